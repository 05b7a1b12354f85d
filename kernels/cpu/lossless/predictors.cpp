#include "cpu/lossless/predictors.h"

#include <algorithm>

#include "cpu/lossless/fit.h"
#include "cpu/lossless/sums.h"

namespace mmp {

namespace {

// By predictor, then number of earlier planes: the regressors of each plane.
constexpr int kOwnOf[kMostPredictors][3] = {{10, 8, 6}, {6, 4, 4}, {18, 14, 10}};
constexpr int kOtherOf[kMostPredictors][3] = {{0, 6, 4}, {0, 3, 2}, {0, 6, 6}};

// Sum is int32_t where samples have eight bits at most.
template <class Sum>
class OfSum {
public:
    OfSum(const PlanesBeside& planes, int count, int bits)
        : planes_(planes),
          count_(count),
          limit_(planes.own->most << kFractionBits),
          narrow_(planes, kOwnOf[0][planes.count], kOtherOf[0][planes.count]),
          wide_(planes, kOwnOf[2][planes.count], kOtherOf[2][planes.count]),
          near_(planes.own->width()),
          fits_{NearFit(bits), NearFit(bits)} {}

    MMP_INLINE void begin_row(int row) {
        narrow_.begin_row(row);
        if (count_ > 2) wide_.begin_row(row);
        if (count_ == 1) return;
        if (row) add_target(row - 1, planes_.own->width() - 1);
        near_.begin_row(row);
        begin_fit(0);
        fits_[0].eliminate_all();
    }

    MMP_INLINE void predict(int row, int column, int level, int* predictions) {
        predictions[0] = std::clamp(narrow_.predict(row, column, level), 0, limit_);
        if (count_ > 2) predictions[2] = std::clamp(wide_.predict(row, column, level), 0, limit_);
        if (count_ == 1) return;
        if (column) add_target(row, column - 1);
        regressors_ = near_regressors(row, column, level);
        level_ = level;
        near_.add_regressors(column, regressors_);
        if (column + 1 < planes_.own->width()) begin_fit(column + 1);
        alignas(64) Sum targets[kNearRegressors];
        near_.find_targets(column, targets);
        const int drift = fits_[column % 2].drift(targets, regressors_, fits_[(column + 1) % 2]);
        predictions[1] = std::clamp((level << kFractionBits) + drift, 0, limit_);
    }

private:
    using NearFit = Fit<Sum>;

    // The regressors of the near predictor.
    MMP_INLINE Regressors near_regressors(int row, int column, int level) const {
        Regressors u{};
        const int32_t* here = planes_.own->sample(row, column);
        const int stride = planes_.own->stride();
        const int own = kOwnOf[1][planes_.count], other = kOtherOf[1][planes_.count];
        for (int i = 0; i < own; ++i)
            u.lanes[i] = here[kPlaces[i][0] * stride + kPlaces[i][1]] - level;
        for (int k = 0; k < planes_.count; ++k) {
            const int32_t* there = planes_.before[k]->sample(row, column);
            const int its_level = level_at(there, stride);
            for (int i = 0; i < other; ++i)
                u.lanes[own + k * other + i] =
                    there[kOtherPlaces[i][0] * stride + kOtherPlaces[i][1]] - its_level;
        }
        return u;
    }

    // Begins to solve the equations of the near predictor for the sample in this column.
    MMP_INLINE void begin_fit(int column) {
        NearFit& fit = fits_[column % 2];
        near_.find_matrix(column, fit.matrix());
        fit.begin();
    }

    // Adds the target of the sample that was predicted last.
    MMP_INLINE void add_target(int row, int column) {
        near_.add_target(column, regressors_, *planes_.own->sample(row, column) - level_);
    }

    const PlanesBeside planes_;
    const int count_, limit_;
    Strips<Sum, 8> narrow_;
    Strips<Sum, 16> wide_;
    FadedSums<Sum> near_;
    NearFit fits_[2];  // of even and odd columns
    Regressors regressors_{};
    int level_ = 0;  // of the sample that was predicted last
};

// Template functions cannot be compiled for several SIMD levels.
#define MMP_PREDICTORS(Sum)                                                                   \
    MMP_SIMD_LEVELS void begin_row(OfSum<Sum>& one, int row) { one.begin_row(row); }          \
    MMP_SIMD_LEVELS void predict(OfSum<Sum>& one, int row, int column, int level, int* out) { \
        one.predict(row, column, level, out);                                                 \
    }
MMP_PREDICTORS(int32_t)
MMP_PREDICTORS(int64_t)

template <class Sum>
class AtLevel : public Predictors {
public:
    AtLevel(const PlanesBeside& planes, int count, int bits) : one_(planes, count, bits) {}

    void begin_row(int row) override { mmp::begin_row(one_, row); }
    void predict(int row, int column, int level, int* predictions) override {
        mmp::predict(one_, row, column, level, predictions);
    }

private:
    OfSum<Sum> one_;
};

}  // namespace

std::unique_ptr<Predictors> predictors_of(const PlanesBeside& planes, int count) {
    const int bits = bit_length(planes.own->most);
    if (planes.bits() <= 8) return std::make_unique<AtLevel<int32_t>>(planes, count, bits);
    return std::make_unique<AtLevel<int64_t>>(planes, count, bits);
}

}  // namespace mmp
