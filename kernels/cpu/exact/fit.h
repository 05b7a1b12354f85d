// The weights of regressors that fit the samples before, and the prediction by them.
// Source: section "Weights" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "cpu/exact/prediction.h"
#include "cpu/exact/sums.h"
#include "cpu/runtime/simd.h"

namespace mmp {

// Solves the equations of a sample in two steps: eliminate() needs only the products of regressors,
// drift() also those with the target.
//
// Doubles hold integers here, and every operation is exact, so each machine gets the integers of the
// format; where a check says that an operation might not be exact, drift() solves with integers.
// - A quotient a / d with |a| < 2^49 and 0 < d < 2^31 is a * (1 / d) without its fraction, if the
//   inverse is too large by 2^-51 to 2^-49 of itself: this is less than what separates a quotient
//   from the next integer, and more than the rounding.
// - All values on the diagonal are below 2^30 and only fall. A value beside it is at most 2^30 at
//   the start and changes by at most factor * pivot / 2^16 + 1 in a step. As long as this is at most
//   2^32, 52 bits are enough for the values and their fractions, and factors are at most 2^30.
template <class Sum, int N>
class Fit {
public:
    explicit Fit(int bits)
        : ridge_(std::max(int64_t{256}, bits < 4 ? 0 : int64_t{3} << (2 * bits - 7))) {}

    // Takes the products of regressors, of FadedSums.
    Sum* matrix() { return matrix_; }

    // Prepares the steps 0 to N - 1 of the elimination.
    MMP_INLINE void begin() {
        set_rows(matrix_);
        worst_[0] = worst_[1] = Doubles8{};
    }
    template <int From, int To>
    MMP_INLINE void eliminate() {
        if constexpr (From < To) {
            step<From>();
            eliminate<From + 1, To>();
        }
    }

    // Returns the predicted difference of a sample from its level, in 1/64 of a sample's unit.
    // Meanwhile it does the steps 0 to kMeanwhile - 1 of the next sample.
    MMP_INLINE int drift(const Sum* targets, const int32_t* regressors, Fit& next) const {
        constexpr int kDropped = kWeightBits - kFractionBits;
        constexpr double kMostChange = 4294967296.0;
        int64_t sum;
        double worst = 0;
        for (int j = 0; j < kHalf; ++j) worst = std::max({worst, worst_[0][j], worst_[1][j]});
        const bool sure =
            substitute(targets, regressors, sum, next, std::make_integer_sequence<int, N>());
        if (!sure || worst > kMostChange) [[unlikely]] sum = integer_sum(targets, regressors);
        return int((sum + (1 << (kDropped - 1))) >> kDropped);
    }
    static constexpr int kMeanwhile = N;

private:
    static constexpr int kPrior[4] = {5, 5, -3, 1};
    static constexpr int kColumns = kPaddedRegressors, kHalf = kColumns / 2;

    int64_t right_side(const Sum* targets, int i) const {
        return targets[i] + (i < 4 ? ridge_ * kPrior[i] >> 3 : 0);
    }

    // Which lanes of a row of the matrix are used, and which lane is on the diagonal.
    struct Masks {
        Sum used[N][kColumns] = {}, diagonal[N][kColumns] = {};

        constexpr Masks() {
            for (int i = 0; i < N; ++i) {
                for (int j = i; j < N; ++j) used[i][j] = -1;
                diagonal[i][i] = -1;
            }
        }
    };
    static constexpr Masks kMasks{};

    MMP_INLINE void set_rows(const Sum* sums) {
        typedef Sum Lanes __attribute__((vector_size(kHalf * sizeof(Sum))));
        constexpr auto& kPlaces = FadedSums<Sum, N>::kPlaces;
        const auto load = [](const Sum* from) {
            Lanes lanes;
            memcpy(&lanes, from, sizeof lanes);
            return lanes;
        };
        Sum most = 0;
        for (int i = 0; i < N; ++i) most = std::max(most, sums[kPlaces.start[i]]);
        shift_ = std::max(0, 34 - std::countl_zero(uint64_t(most + ridge_)));
        for (int i = 0; i < N; ++i)
            for (int j = i < kHalf ? 0 : kHalf; j < kColumns; j += kHalf) {
                const Lanes values = (load(sums + kPlaces.start[i] - i + j) & load(&kMasks.used[i][j])) +
                                     (load(&kMasks.diagonal[i][j]) & Sum(ridge_));
                rows_[i][j / kHalf] = __builtin_convertvector(values >> shift_, Doubles8);
            }
    }

    // Makes the coefficients of regressor I zero in the rows below row I.
    template <int I>
    MMP_INLINE void step() {
        constexpr double kEnlarged = 1 + 1.0 / (int64_t{1} << 50);
        constexpr int kFrom = I + 1 < kHalf ? 0 : 1;
        inverse_[I] = kEnlarged / std::max(rows_[I][I / kHalf][I % kHalf], 16.0);
        if constexpr (I + 1 < N) {
            Doubles8 pivot[2];
            alignas(64) double factors[kColumns];
            for (int k = kFrom; k < 2; ++k) {
                const Doubles8 value = rows_[I][k], quotient = value * inverse_[I];
                const Longs8 lane = Longs8{0, 1, 2, 3, 4, 5, 6, 7} + kHalf * k;
                const Doubles8 change = lane > I ? value * quotient : Doubles8{};
                worst_[k] = change > worst_[k] ? change : worst_[k];
                const Ints8 factor = __builtin_convertvector(quotient * 65536, Ints8);
                memcpy(&factors_[I][k * kHalf], &factor, sizeof factor);
                const Doubles8 whole = __builtin_convertvector(factor, Doubles8);
                memcpy(factors + k * kHalf, &whole, sizeof whole);
                pivot[k] = value * (1.0 / 65536);
            }
#pragma GCC unroll 14
            for (int r = I + 1; r < N; ++r)
                for (int k = r / kHalf; k < 2; ++k)
                    rows_[r][k] = less_floor(rows_[r][k], factors[r] * pivot[k]);
        }
    }

    // Subtracts the integers below the products, which are multiples of 2^-16.
    static MMP_INLINE Doubles8 less_floor(Doubles8 values, Doubles8 products) {
        constexpr double kUp = 0.5 - 1.0 / (1 << 17), kWhole = 3.0 * (int64_t{1} << 51);
        return values + kUp - products + kWhole - kWhole;
    }

    // Computes the sum of weights times regressors; returns whether it is sure.
    template <int... I>
    MMP_INLINE bool substitute(const Sum* targets, const int32_t* regressors, int64_t& sum,
                               Fit& next, std::integer_sequence<int, I...>) const {
        int64_t y[N];
        double rest[N], total = 0, farthest = 0;
        ((y[I] = right_side(targets, I) >> shift_), ...);
        (forward<I>(y, rest), ...);
        (backward<N - 1 - I>(rest, regressors, total, farthest, next), ...);
        sum = int64_t(total);
        return farthest <= kMostWeight;
    }
    template <int I>
    MMP_INLINE void forward(int64_t* y, double* rest) const {
        constexpr int64_t kMostValue = int64_t{1} << 31;
        y[I] = std::clamp(y[I], -kMostValue, kMostValue);
        rest[I] = double(y[I] << kWeightBits);
#pragma GCC unroll 14
        for (int r = I + 1; r < N; ++r) y[r] -= (factors_[I][r] * y[I]) >> 16;
    }
    template <int I>
    MMP_INLINE void backward(double* rest, const int32_t* regressors, double& total,
                             double& farthest, Fit& next) const {
        const double weight = __builtin_trunc(rest[I] * inverse_[I]);
        farthest = std::max(farthest, __builtin_fabs(weight));
        total += weight * regressors[I];
#pragma GCC unroll 14
        for (int j = I - 1; j >= 0; --j) rest[j] -= rows_[j][I / kHalf][I % kHalf] * weight;
        if constexpr (N - 1 - I < kMeanwhile) next.template step<N - 1 - I>();
    }

    __attribute__((noinline)) int64_t integer_sum(const Sum* targets,
                                                  const int32_t* regressors) const {
        constexpr auto& kPlaces = FadedSums<Sum, N>::kPlaces;
        int64_t m[kMostRegressors][kMostRegressors + 1];
        int32_t weights[kMostRegressors];
        for (int i = 0; i < N; ++i) {
            for (int j = i; j < N; ++j)
                m[i][j] = (matrix_[kPlaces.start[i] + j - i] + (i == j ? ridge_ : 0)) >>
                          shift_;
            m[i][N] = right_side(targets, i) >> shift_;
        }
        solve(m, N, weights);
        int64_t sum = 0;
        for (int i = 0; i < N; ++i) sum += int64_t{weights[i]} * regressors[i];
        return sum;
    }

    const int64_t ridge_;
    alignas(64) Sum matrix_[FadedSums<Sum, N>::kPlaces.size];
    int shift_ = 0;
    Doubles8 rows_[N][2];
    Doubles8 worst_[2];  // largest changes of the diagonal
    alignas(64) int32_t factors_[N][kColumns];
    double inverse_[N];
};

}  // namespace mmp
