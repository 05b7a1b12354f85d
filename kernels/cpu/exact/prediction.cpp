#include "cpu/exact/prediction.h"

#include <algorithm>
#include <bit>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

template <class Sum>
MMP_INLINE Sum faded(Sum sum) {
    return sum - (sum >> 3) - (sum >> 4);
}

template <class Sum>
MMP_INLINE void fade_left(const Sum* down, Sum* right, int count, int stride) {
    for (int64_t k = int64_t{count} * stride - 1; k >= 0; --k)
        right[k] = faded(Sum(right[k + stride] + down[k]));
}

template <class Sum>
MMP_INLINE void gather(const Sum* down, const Sum* right, const Sum* row, Sum* left, Sum* found,
                       int stride) {
    for (int k = 0; k < stride; ++k) {
        left[k] = faded(left[k]) + down[k];
        found[k] = faded(Sum(left[k] + right[k])) + row[k];
    }
}

template <class Sum>
MMP_INLINE void add_products(const int32_t* regressors, int count, int32_t target, Sum* down,
                             Sum* row, int stride) {
    Sum values[kMostRegressors + 1], product[kPaddedSums + kMostRegressors] = {};
    for (int i = 0; i < count; ++i) values[i] = Sum(regressors[i]) * 256;
    values[count] = Sum(target) * 256;
    Sum* next = product;
    for (int i = 0; i < count; next += count - i, ++i)
        for (int j = i; j < count; ++j) next[j - i] = Sum(regressors[i]) * values[j];
    for (int i = 0; i < count; ++i) next[i] = Sum(regressors[i]) * values[count];
    for (int k = 0; k < stride; ++k) {
        down[k] = faded(down[k]) + product[k];
        row[k] = faded(Sum(row[k] + product[k]));
    }
}

// Template functions cannot be compiled for several SIMD levels.
#define MMP_FOR_SUM(Sum)                                                                        \
    MMP_SIMD_LEVELS void fade_row(const Sum* down, Sum* right, int count, int stride) {         \
        fade_left(down, right, count, stride);                                                  \
    }                                                                                           \
    MMP_SIMD_LEVELS void gather_sums(const Sum* down, const Sum* right, const Sum* row,         \
                                     Sum* left, Sum* found, int stride) {                       \
        gather(down, right, row, left, found, stride);                                          \
    }                                                                                           \
    MMP_SIMD_LEVELS void add_sums(const int32_t* regressors, int count, int32_t target,         \
                                  Sum* down, Sum* row, int stride) {                            \
        add_products(regressors, count, target, down, row, stride);                             \
    }
MMP_FOR_SUM(int32_t)
MMP_FOR_SUM(int64_t)

// Returns the integer quotient a / b, rounded toward zero, for |a| < 2^53 and b > 0. `inverse` is 1
// / b; floating point is much faster than integer division.
MMP_INLINE int64_t quotient(int64_t a, int64_t b, double inverse) {
    const int64_t near = int64_t(double(a) * inverse);
    const int64_t rest = a - near * b;  // off by one at most
    const int64_t under = (a >= 0) & (rest >= b), over = (a >= 0) & (rest < 0);
    const int64_t above = (a < 0) & (rest <= -b), below = (a < 0) & (rest > 0);
    return near + under - over - above + below;
}

}  // namespace

template <class Sum>
FadedSums<Sum>::FadedSums(int width, int regressors)
    : width_(width),
      regressors_(regressors),
      stride_((regressors * (regressors + 3) / 2 + 7) / 8 * 8),
      down_(zeroed<Sum>(size_t(width) * stride_)),
      right_(zeroed<Sum>(size_t(width) * stride_)),
      left_(stride_),
      row_(stride_),
      found_(stride_) {}

template <class Sum>
void FadedSums<Sum>::begin_row(int row) {
    std::fill(left_.begin(), left_.end(), 0);
    std::fill(row_.begin(), row_.end(), 0);
    if (row) fade_row(&down_[stride_], right_.get(), width_ - 1, stride_);
}

template <class Sum>
const Sum* FadedSums<Sum>::at(int column) {
    const size_t start = size_t(column) * stride_;
    gather_sums(&down_[start], &right_[start], row_.data(), left_.data(), found_.data(), stride_);
    return found_.data();
}

template <class Sum>
void FadedSums<Sum>::add(int column, const int32_t* regressors, int32_t target) {
    Sum* down = &down_[size_t(column) * stride_];
    add_sums(regressors, regressors_, target, down, row_.data(), stride_);
}

// Solves the symmetric equations whose upper triangle is m; its last column is the right side.
MMP_SIMD_LEVELS void solve(int64_t (*m)[kMostRegressors + 1], int n, int32_t* weights) {
    // Rounding can make the equations singular. These limits keep all products within 63 bits.
    constexpr int64_t kMostFactor = int64_t{1} << 30, kMostValue = int64_t{1} << 31;
    constexpr int64_t kMostWeight = 1 << (kWeightBits + 3);
    double inverse[kMostRegressors];
    for (int i = 0; i < n; ++i) {
        int64_t* pivot = m[i];
        for (int j = i; j <= n; ++j) pivot[j] = std::clamp(pivot[j], -kMostValue, kMostValue);
        pivot[i] = std::max(pivot[i], int64_t{16});
        inverse[i] = 1.0 / double(pivot[i]);
        int64_t factors[kMostRegressors];
        for (int r = i + 1; r < n; ++r)
            factors[r] = std::clamp(quotient(pivot[r] * 65536, pivot[i], inverse[i]), -kMostFactor,
                                    kMostFactor);
        for (int r = i + 1; r < n; ++r)
            for (int j = r; j <= n; ++j) m[r][j] -= (factors[r] * pivot[j]) >> 16;
    }
    for (int i = n - 1; i >= 0; --i) {
        int64_t rest = m[i][n] << kWeightBits;
        for (int j = i + 1; j < n; ++j) rest -= m[i][j] * weights[j];
        weights[i] = int32_t(std::clamp(quotient(rest, m[i][i], inverse[i]), -kMostWeight, kMostWeight));
    }
}

template <class Sum>
void fit_weights(const Sum* sums, int n, int bits, int32_t* weights) {
    int64_t m[kMostRegressors][kMostRegressors + 1];
    int64_t most = 0;
    int k = 0;
    for (int i = 0; i < n; ++i) {
        most = std::max(most, int64_t{sums[k]});
        for (int j = i; j < n; ++j) m[i][j] = sums[k++];
    }
    for (int i = 0; i < n; ++i) m[i][n] = sums[k++];
    const int64_t ridge = std::max(int64_t{256}, bits < 4 ? 0 : int64_t{3} << (2 * bits - 7));
    static constexpr int kPrior[4] = {5, 5, -3, 1};
    const int shift = std::max(0, 34 - std::countl_zero(uint64_t(most + ridge)));
    for (int i = 0; i < n; ++i) {
        m[i][i] += ridge;
        if (i < 4) m[i][n] += ridge * kPrior[i] >> 3;
        for (int j = i; j <= n; ++j) m[i][j] >>= shift;
    }
    solve(m, n, weights);
}

template class FadedSums<int32_t>;
template class FadedSums<int64_t>;
template void fit_weights(const int32_t*, int, int, int32_t*);
template void fit_weights(const int64_t*, int, int, int32_t*);

}  // namespace mmp
