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
        least_ = kMostChange;
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
    MMP_INLINE int drift(const Sum* targets, const Ints16& regressors, Fit& next) const {
        constexpr int kDropped = kWeightBits - kFractionBits;
        int64_t sum;
        const bool sure =
            substitute(targets, regressors, sum, next, std::make_integer_sequence<int, N>());
        if (!sure) [[unlikely]] sum = integer_sum(targets, regressors);
        return int((sum + (1 << (kDropped - 1))) >> kDropped);
    }
    static constexpr int kMeanwhile = MEAN;

private:
    static constexpr int kPrior[4] = {5, 5, -3, 1};
    static constexpr double kRaised = 3.0 * (int64_t{1} << 51), kMostChange = 4294967296.0;
    static constexpr int kColumns = kPaddedRegressors, kHalf = kColumns / 2;

    typedef Sum Lanes __attribute__((vector_size(kHalf * sizeof(Sum))));
    static MMP_INLINE Lanes load(const Sum* from) {
        Lanes lanes;
        memcpy(&lanes, from, sizeof lanes);
        return lanes;
    }

    int64_t right_side(const Sum* targets, int i) const {
        return targets[i] + (i < 4 ? ridge_ * kPrior[i] >> 3 : 0);
    }

    // Where the lanes of each half of a row are in their group of sums, and which are used.
    struct Lines {
        Sum from[N][kColumns] = {}, used[N][kColumns] = {}, diagonal[N][kColumns] = {};

        constexpr Lines() {
            for (int i = 0; i < N; ++i) {
                for (int j = i; j < N; ++j) {
                    from[i][j] = (FadedSums<Sum, N>::kPlaces.start[i] + j - i) % kColumns;
                    used[i][j] = -1;
                }
                diagonal[i][i] = -1;
            }
        }
    };
    static constexpr Lines kLines{};

    MMP_INLINE void set_rows(const Sum* sums) {
        constexpr auto& kPlaces = FadedSums<Sum, N>::kPlaces;
        Sum most = 0;
        for (int i = 0; i < N; ++i) most = std::max(most, sums[kPlaces.start[i]]);
        shift_ = std::max(0, 34 - std::countl_zero(uint64_t(most + ridge_)));
#pragma GCC unroll 14
        for (int i = 0; i < N; ++i) {
            const Sum* group = sums + kPlaces.start[i] / kColumns * kColumns;
            for (int k = i / kHalf; k < 2; ++k) {
                Lanes values;
                if constexpr (sizeof(Sum) == sizeof(int32_t)) {
                    Ints16 all, from;
                    memcpy(&all, group, sizeof all);
                    memcpy(&from, kLines.from[i], sizeof from);
                    all = chosen_lanes(all, all, from);
                    values = k ? upper_half(all) : lower_half(all);
                } else {
                    values = chosen_lanes(load(group), load(group + kHalf),
                                          load(&kLines.from[i][k * kHalf]));
                }
                values = (values & load(&kLines.used[i][k * kHalf])) +
                         (load(&kLines.diagonal[i][k * kHalf]) & Sum(ridge_));
                rows_[i][k] = __builtin_convertvector(values >> shift_, Doubles8) + kRaised;
            }
        }
    }

    // Drops the fractions of values below 2^51.
    static MMP_INLINE Doubles8 whole(Doubles8 values) {
        constexpr int64_t kSign = int64_t{1} << 63;
        const Longs8 negative = Longs8(values) | kSign, signs = ~Longs8(values) & kSign;
        return Doubles8(Longs8(Doubles8(negative) + kRaised - kRaised) ^ signs);
    }

    // Makes the coefficients of regressor I zero in the rows below row I.
    template <int I>
    MMP_INLINE void step() {
        constexpr double kEnlarged = 65536 * (1 + 1.0 / (int64_t{1} << 50));
        constexpr int kFrom = I + 1 < kHalf ? 0 : 1;
        const double diagonal = rows_[I][I / kHalf][I % kHalf] - kRaised;
        const double inverse = kEnlarged / diagonal;
        least_ = std::min(least_, diagonal);
        inverses_[I / kHalf][I % kHalf] = inverse * (1.0 / 65536);
        Doubles8 factors[2] = {}, pivot[2];
        for (int k = kFrom; k < 2; ++k) {
            const Longs8 lane = Longs8{0, 1, 2, 3, 4, 5, 6, 7} + kHalf * k;
            const Doubles8 value = lane > I ? rows_[I][k] - kRaised : Doubles8{};
            rows_[I][k] = value;
            pivot[k] = value * (1.0 / 65536);
            const Doubles8 quotient = value * inverse, change = pivot[k] * quotient;
            worst_[k] = change > worst_[k] ? change : worst_[k];
            factors[k] = whole(quotient);
            factors_[I][k] = factors[k] * (1.0 / 65536);
        }
#pragma GCC unroll 14
        for (int r = I + 1; r < N; ++r)
            for (int k = r / kHalf; k < 2; ++k)
                rows_[r][k] -= factors[r / kHalf][r % kHalf] * pivot[k];
    }

    // Computes the sum of weights times regressors; returns whether it is sure.
    template <int... I>
    MMP_INLINE bool substitute(const Sum* targets, const Ints16& regressors, int64_t& sum,
                               Fit& next, std::integer_sequence<int, I...>) const {
        Doubles8 y[2], most = worst_[0] > worst_[1] ? worst_[0] : worst_[1];
        alignas(64) double rest[kColumns], u[kColumns];
        for (int k = 0; k < 2; ++k) {
            const Lanes prior = k ? Lanes{} : Lanes{5, 5, -3, 1} * Sum(ridge_) >> 3;
            const Lanes side = (load(targets + k * kHalf) + prior) >> shift_;
            y[k] = __builtin_convertvector(side, Doubles8) + kRaised;
        }
        (forward<I>(y), ...);
        for (int k = 0; k < 2; ++k) {
            y[k] -= kRaised;
            const Doubles8 change = y[k] * y[k] * inverses_[k];
            most = change > most ? change : most;
            y[k] *= 1 << kWeightBits;
            memcpy(rest + k * kHalf, &y[k], sizeof y[k]);
            const Ints8 half = k ? upper_half(regressors) : lower_half(regressors);
            const Doubles8 wide = __builtin_convertvector(half, Doubles8);
            memcpy(u + k * kHalf, &wide, sizeof wide);
        }
        double total = 0, farthest = 0;
        (backward<N - 1 - I>(rest, u, total, farthest, next), ...);
        sum = int64_t(total);
        return farthest <= kMostWeight && least_ >= 16 && largest(most) <= kMostChange;
    }
    template <int I>
    MMP_INLINE void forward(Doubles8* y) const {
        const double pivot = y[I / kHalf][I % kHalf] - kRaised;
        for (int k = (I + 1) / kHalf; k < 2; ++k) y[k] -= factors_[I][k] * pivot;
    }
    template <int I>
    MMP_INLINE void backward(double* rest, const double* u, double& total, double& farthest,
                             Fit& next) const {
        const double weight = __builtin_trunc(rest[I] * inverses_[I / kHalf][I % kHalf]);
        farthest = std::max(farthest, __builtin_fabs(weight));
        total += weight * u[I];
#pragma GCC unroll 14
        for (int j = I - 1; j >= 0; --j) rest[j] -= rows_[j][I / kHalf][I % kHalf] * weight;
        if constexpr (N - 1 - I < kMeanwhile) next.template step<N - 1 - I>();
    }

    static MMP_INLINE double largest(Doubles8 v) {
        Doubles8 other = __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
        v = v > other ? v : other;
        other = __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5);
        v = v > other ? v : other;
        return std::max(v[0], v[1]);
    }

    __attribute__((noinline)) int64_t integer_sum(const Sum* targets,
                                                  const Ints16& regressors) const {
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
    double least_;        // least value on the diagonal
    Doubles8 worst_[2];  // largest changes of the diagonal
    Doubles8 factors_[N][2];
    Doubles8 inverses_[2] = {};
};

}  // namespace mmp
