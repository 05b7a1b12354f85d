#include "cpu/lossless/predictors.h"

#include <algorithm>

#include "cpu/lossless/fit.h"
#include "cpu/lossless/sums.h"

namespace mmp {

namespace {

// The predictor of forms with one. Sum is int32_t where samples have eight bits at most.
template <class Sum>
class OnePredictor {
public:
    OnePredictor(const PlanesBeside& planes, int)
        : limit_(planes.own->most << kFractionBits), wide_(planes, kWide[planes.count]) {}

    MMP_INLINE void begin_row(int row) { wide_.begin_row(row); }
    MMP_INLINE void predict(int row, int column, int level, int* predictions) {
        const int one = std::clamp(wide_.predict(row, column, level), 0, limit_);
        std::fill_n(predictions, kMostPredictors, one);
    }

private:
    const int limit_;
    Strips<Sum, 32> wide_;
};

template <class Sum>
class ThreePredictors {
public:
    ThreePredictors(const PlanesBeside& planes, int bits)
        : planes_(planes),
          limit_(planes.own->most << kFractionBits),
          narrow_(planes, kNarrow[planes.count]),
          wide_(planes, kWide[planes.count]),
          near_(planes.own->width()),
          fits_{NearFit(bits), NearFit(bits)} {}

    MMP_INLINE void begin_row(int row) {
        narrow_.begin_row(row);
        wide_.begin_row(row);
        if (row) add_target(row - 1, planes_.own->width() - 1);
        near_.begin_row(row);
        begin_fit(0);
        fits_[0].eliminate_all();
    }

    MMP_INLINE void predict(int row, int column, int level, int* predictions) {
        predictions[0] = std::clamp(narrow_.predict(row, column, level), 0, limit_);
        predictions[2] = std::clamp(wide_.predict(row, column, level), 0, limit_);
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
        int32_t* next = u.lanes;
        const auto add = [&](const int32_t* from, int its_level, const int (*places)[2], int count)
            __attribute__((always_inline)) {
            const int stride = planes_.own->stride();
            for (int i = 0; i < count; ++i)
                *next++ = from[places[i][0] * stride + places[i][1]] - its_level;
        };
        const RegressorCounts& counts = kNear[planes_.count];
        add(planes_.own->sample(row, column), level, kPlaces, counts.own);
        for (int k = 0; k < planes_.count; ++k) {
            const int32_t* there = planes_.before[k]->sample(row, column);
            add(there, level_at(there, planes_.own->stride()), kOtherPlaces, counts.of_earlier[k]);
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
    const int limit_;
    Strips<Sum, 8> narrow_;
    Strips<Sum, 32> wide_;
    FadedSums<Sum> near_;
    NearFit fits_[2];  // of even and odd columns
    Regressors regressors_{};
    int level_ = 0;  // of the sample that was predicted last
};

// Template functions cannot be compiled for several SIMD levels.
#define MMP_PREDICTORS(...)                                                              \
    MMP_SIMD_LEVELS void begin_row(__VA_ARGS__& one, int row) { one.begin_row(row); }    \
    MMP_SIMD_LEVELS void predict(__VA_ARGS__& one, int row, int column, int level,       \
                                 int* out) {                                             \
        one.predict(row, column, level, out);                                            \
    }
MMP_PREDICTORS(OnePredictor<int32_t>)
MMP_PREDICTORS(OnePredictor<int64_t>)
MMP_PREDICTORS(ThreePredictors<int32_t>)
MMP_PREDICTORS(ThreePredictors<int64_t>)

template <class Own>
class AtLevel : public Predictors {
public:
    AtLevel(const PlanesBeside& planes, int bits) : one_(planes, bits) {}

    void begin_row(int row) override { mmp::begin_row(one_, row); }
    void predict(int row, int column, int level, int* predictions) override {
        mmp::predict(one_, row, column, level, predictions);
    }

private:
    Own one_;
};

template <class Sum>
std::unique_ptr<Predictors> made(const PlanesBeside& planes, int count, int bits) {
    if (count == 1) return std::make_unique<AtLevel<OnePredictor<Sum>>>(planes, bits);
    return std::make_unique<AtLevel<ThreePredictors<Sum>>>(planes, bits);
}

}  // namespace

std::unique_ptr<Predictors> predictors_of(const PlanesBeside& planes, int count) {
    const int bits = bit_length(planes.own->most);
    return planes.bits() <= 8 ? made<int32_t>(planes, count, bits)
                              : made<int64_t>(planes, count, bits);
}

}  // namespace mmp
