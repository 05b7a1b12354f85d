#include "cpu/blocks/planes.h"

#include <stdlib.h>

#include <algorithm>

#include "cpu/blocks/picture.h"
#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

// Solves the normal equations of a fit by Gaussian elimination. Row p holds the sums of products of
// regressor p with each of the `terms` regressors, then with the sample, all times kFitScale. The
// weights are in 1/4096.
void solve_fit(int64_t (*m)[kMostRegressors + 1], int terms, int64_t* weight) {
    for (int i = 0; i < terms; ++i) {
        for (int k = i; k <= terms; ++k) m[i][k] = limited(m[i][k], kMostValue);
        const int64_t pivot = std::max<int64_t>(m[i][i], kFitScale);
        m[i][i] = pivot;
        for (int r = i + 1; r < terms; ++r) {
            const int64_t f = limited(limited(m[r][i], kMostValue) * 65536 / pivot, kMostFactor);
            for (int k = i; k <= terms; ++k) m[r][k] -= (f * m[i][k]) >> 16;
        }
    }
    for (int i = terms - 1; i >= 0; --i) {
        int64_t t = m[i][terms] * 4096;
        for (int k = i + 1; k < terms; ++k) t -= m[i][k] * weight[k];
        weight[i] = limited(t / m[i][i], kMostWeight);
    }
}

// Samples of a row minus the middle level.
template <int Count, class Lanes, class Sample>
MMP_INLINE Lanes differences(const Sample* row, int middle) {
    using Samples = typename Row<Sample, Count>::Samples;
    using Wider = typename Row<Sample, Count>::Lanes;
    const auto wide = __builtin_convertvector(loaded<Samples>(row), Wider);
    return __builtin_convertvector(wide - Wide<Sample>(middle), Lanes);
}

// Regressors of the decoded samples around a block, as differences from the middle level.
template <class Sample>
class PlanesFit {
public:
    using Sum = std::conditional_t<kIsByte<Sample>, int32_t, int64_t>;

    // Appends `count` samples of a regressor; `count` is a multiple of 4.
    void take(int term, const Sample* from, int count, int middle) {
        using Samples = typename Row<Sample, 4>::Samples;
        for (int i = 0; i < count; i += 4) {
            const auto wide = __builtin_convertvector(loaded<Samples>(from + i), Words4);
            store(values_[term] + count_ + i, reinterpret_cast<Shorts4>(wide - uint16_t(middle)));
        }
    }
    void end_row(int count) { count_ += count; }
    int count() const { return count_; }
    // Writes the normal equations: the sum of each term, and the sums of products of each term with
    // itself and with later terms.
    MMP_SIMD_LEVELS void sums(int terms, Depth<Sample> depth, Sum* of_terms,
                              Sum (*products)[kMostRegressors + 1]) {
        for (int p = 0; p < terms; ++p) store(values_[p] + count_, Shorts4{});  // zero padding
        for (int p = 0; p < terms; ++p) {
            Ints4 sum{};
            for (int i = 0; i < count_; i += 8) sum += sums_of_pairs(at(p, i), Shorts8{} + int16_t{1});
            of_terms[p] = Sum(all(sum));
            for (int q = p; q < terms; ++q)
                products[p][q] =
                    Sum(depth.bits() <= kShortProducts ? short_product(p, q) : product(p, q));
        }
    }

private:
    static constexpr int kMost = kPlanesReach * (2 * kMaxSide + kPlanesReach);
    // Most bits per sample for which the sums of products fit 32-bit lanes.
    static constexpr int kShortProducts = 12;
    static_assert(int64_t{kMost / 4} << 2 * (kShortProducts - 1) < int64_t{1} << 31);

    MMP_INLINE Shorts8 at(int term, int i) const { return loaded<Shorts8>(values_[term] + i); }
    static MMP_INLINE int64_t all(Ints4 lanes) {
        return int64_t{lanes[0]} + lanes[1] + lanes[2] + lanes[3];
    }
    MMP_INLINE int64_t short_product(int p, int q) const {
        Ints4 sum{};
        for (int i = 0; i < count_; i += 8) sum += sums_of_pairs(at(p, i), at(q, i));
        return all(sum);
    }
    MMP_INLINE int64_t product(int p, int q) const {
        int64_t sum = 0;
        for (int i = 0; i < count_; ++i) sum += int64_t{values_[p][i]} * values_[q][i];
        return sum;
    }

    int16_t values_[kMostRegressors + 1][kMost + 4];
    int count_ = 0;
};

// Absolute differences of the first earlier plane's samples, in and around a block, from the mean
// of the samples around the block.
template <class Sample>
class Distances {
public:
    static constexpr ptrdiff_t kStride = kMaxSide + kPlanesReach;

    explicit Distances(const BlockPlace& block)
        : row_(std::max(0, block.row - kPlanesReach)),
          column_(std::max(0, block.column - kPlanesReach)) {}
    const Sample* at(int row, int column) const {
        return values_ + (row - row_) * kStride + column - column_;
    }
    MMP_SIMD_LEVELS void measure(const EarlierPlanes<Sample>& planes, const BlockPlace& block) {
        const int end = block.column + block.width(), end_row = block.row + block.height();
        int sum = 0, count = 0;
        for (int row = row_; row < end_row; ++row) {
            const Sample* from = planes.at(0, row, column_);
            const int length = (row < block.row ? end : block.column) - column_;
            for (int k = 0; k < length; ++k) sum += from[k];
            count += length;
        }
        const int mean = sum / count;
        for (int row = row_; row < end_row; ++row) {
            const Sample* from = planes.at(0, row, column_);
            Sample* to = values_ + (row - row_) * kStride;
            for (int k = 0; k < end - column_; ++k) to[k] = Sample(std::abs(from[k] - mean));
        }
    }

private:
    int row_, column_;
    Sample values_[kStride * kStride];
};

// Pointers to the regressors of the sample at (row, column), and the strides of these arrays.
template <class Sample>
struct Regressors {
    int count = 0;
    const Sample* of[kMostRegressors];
    ptrdiff_t stride[kMostRegressors];

    Regressors(const EarlierPlanes<Sample>& planes, const Distances<Sample>& distances, int used,
               int mode, int row, int column) {
        const Sample* luma = planes.at(0, row, column);
        const ptrdiff_t below = planes.stride();
        add(luma, below);
        if (mode == kWideCrossComponent)
            for (const ptrdiff_t apart : {-below, ptrdiff_t{-1}, ptrdiff_t{1}, below})
                add(luma + apart, below);
        if (used == 2) add(planes.at(1, row, column), below);
        if (mode == kWideCrossComponent) add(distances.at(row, column), Distances<Sample>::kStride);
    }

private:
    void add(const Sample* from, ptrdiff_t own_stride) {
        of[count] = from;
        stride[count++] = own_stride;
    }
};

// Writes the weighted sums of regressors plus `start`, as samples, in vectors of Count columns.
template <int Count, class Sample, class Sum>
MMP_INLINE void weigh_rows(const Regressors<Sample>& regressors, const Sum* weight, Sum start,
                           int middle, int most, int height, int width, Sample* out) {
    typedef Sum Sums __attribute__((vector_size(Count * sizeof(Sum))));
    using Samples = typename Row<Sample, Count>::Samples;
    for (int first = 0; first < width; first += Count)
        for (int i = 0; i < height; ++i) {
            Sums sums = Sums{} + start;
            for (int p = 0; p < regressors.count; ++p)
                sums += weight[p] *
                        differences<Count, Sums>(
                            regressors.of[p] + i * regressors.stride[p] + first, middle);
            Sums value = (sums >> 12) + Sum(middle);
            value = value < 0 ? Sums{} : value;
            value = value < Sum(most) ? value : Sums{} + Sum(most);
            store(out + i * width + first, __builtin_convertvector(value, Samples));
        }
}

template <class Sample, class Sum>
MMP_SIMD_LEVELS void weigh(const Regressors<Sample>& regressors, const Sum* weight, Sum start,
                           int middle, int most, int height, int width, Sample* out) {
    if (width == 4)
        weigh_rows<4>(regressors, weight, start, middle, most, height, width, out);
    else if (width >= 16 && sizeof(Sum) == sizeof(int32_t))
        weigh_rows<16>(regressors, weight, start, middle, most, height, width, out);
    else
        weigh_rows<8>(regressors, weight, start, middle, most, height, width, out);
}

}  // namespace

template <class Sample>
void predict_from_planes(const BlockPicture<Sample>& picture, const BlockPlace& block, int mode,
                         int used, Sample* out) {
    const EarlierPlanes<Sample>& planes = *picture.earlier;
    const int y = block.row, x = block.column, h = block.height(), w = block.width();
    const int middle = picture.depth.middle();
    Distances<Sample> distances(block);
    if (mode == kWideCrossComponent) distances.measure(planes, block);
    PlanesFit<Sample> fit;
    const auto learn = [&](int row, int first, int end) {
        const Regressors<Sample> own(planes, distances, used, mode, row, first);
        for (int p = 0; p < own.count; ++p) fit.take(p, own.of[p], end - first, middle);
        fit.take(own.count, picture.at(row, first), end - first, middle);
        fit.end_row(end - first);
    };
    const int first = std::max(0, x - kPlanesReach);
    for (int row = std::max(0, y - kPlanesReach); row < y; ++row) learn(row, first, x + w);
    if (first < x)
        for (int row = y; row < y + h; ++row) learn(row, first, x);
    const Regressors<Sample> regressors(planes, distances, used, mode, y, x);
    const int terms = regressors.count;
    using Sum = typename PlanesFit<Sample>::Sum;
    Sum sums[kMostRegressors + 1], products[kMostRegressors + 1][kMostRegressors + 1];
    fit.sums(terms + 1, picture.depth, sums, products);
    int64_t m[kMostRegressors][kMostRegressors + 1];
    for (int p = 0; p < terms; ++p)
        for (int q = p; q <= terms; ++q) {
            m[p][q] = covariance(products[p][q], sums[p], sums[q], fit.count(),
                                 picture.depth.extra());
            if (q < terms) m[q][p] = m[p][q];
        }
    for (int p = 0; p < terms; ++p) m[p][p] += kPlanesDiagonal * kFitScale;
    int64_t weights[kMostRegressors], rest = int64_t{sums[terms]} * 4096, sizes = 0;
    solve_fit(m, terms, weights);
    for (int p = 0; p < terms; ++p) {
        rest -= weights[p] * sums[p];
        sizes += std::abs(weights[p]);
    }
    const Sum start = Sum(rest / fit.count()) + 2048;
    const auto weigh_in = [&](auto own_start) {
        decltype(own_start) weight[kMostRegressors];
        std::copy_n(weights, terms, weight);
        weigh(regressors, weight, own_start, middle, picture.depth.most(), h, w, out);
    };
    // The sums always fit 32 bits at a depth of 8 bits, and nearly always at greater depths.
    if (kIsByte<Sample> || std::abs(start) + sizes * middle <= INT32_MAX)
        weigh_in(int32_t(start));
    else
        weigh_in(start);
}

template void predict_from_planes(const BlockPicture<uint8_t>&, const BlockPlace&, int, int,
                                  uint8_t*);
template void predict_from_planes(const BlockPicture<uint16_t>&, const BlockPlace&, int, int,
                                  uint16_t*);

}  // namespace mmp
