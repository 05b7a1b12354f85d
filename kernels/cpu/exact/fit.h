// The weights of regressors that fit the samples before, and the prediction by them.
// Source: section "Weights" of docs/format/format.md.
#pragma once

#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "cpu/exact/prediction.h"
#include "cpu/exact/sums.h"
#include "cpu/runtime/simd.h"

namespace mmp {

// Solves the equations of a sample in two steps: the elimination needs only the products of
// regressors, drift() also those with the target. The caller lets floating point round upwards.
//
// Doubles hold integers here, and each machine gets the integers of the format:
// - A quotient a / d with |a| < 2^47 is a * (1 / d) without its fraction if the inverse is too
//   large by 2^-51 to 2^-49 of itself: this is less than what separates a quotient from the next
//   integer, and more than the rounding. For |a| < 2^52 this holds if the quotient is below 2^18.
// - Integers near kRaised have no fraction. So value - product becomes, rounded upwards, the value
//   minus the integer below the product. Factors are scaled by 2^-16, their products are exact.
// - Values on the diagonal start below 2^30 and only fall. A value beside it starts at 2^30 at most
//   and changes by |factor * pivot| + 1 at most in a step. As long as no change exceeds 2^32 and
//   the diagonal is 16 or more, no limit of the format matters. Else drift() solves with integers.
template <class Sum, int N>
class Fit {
public:
    explicit Fit(int bits)
        : ridge_(std::max(int64_t{256}, bits < 4 ? 0 : int64_t{3} << (2 * bits - 7))) {}

    // Where FadedSums puts the products of regressors.
    Sum* matrix() { return matrix_; }

    // Prepares the steps 0 to N - 1 of the elimination.
    MMP_INLINE void begin() {
        set_rows(matrix_);
        for (Doubles4& worst : worst_) worst = Doubles4{};
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
    MMP_INLINE int drift(const Sum* targets, const Regressors& regressors, Fit& next) const {
        constexpr int kDropped = kWeightBits - kFractionBits;
        int64_t sum;
        const bool sure =
            substitute(targets, regressors, sum, next, std::make_integer_sequence<int, N>());
        if (!sure) [[unlikely]] sum = integer_sum(targets, regressors);
        return int((sum + (1 << (kDropped - 1))) >> kDropped);
    }
    static constexpr int kMeanwhile = 6;  // as many as take as long as drift()

private:
    static constexpr Sum kPrior[4] = {5, 5, -3, 1};
    static constexpr double kRaised = 3.0 * (int64_t{1} << 51), kMostChange = 4294967296.0;
    static constexpr int kColumns = kPaddedRegressors, kLanes = 4;
    static constexpr int kGroups = (N + kLanes - 1) / kLanes;

    typedef Sum Lanes __attribute__((vector_size(kLanes * sizeof(Sum))));
    static MMP_INLINE Lanes load(const Sum* from) {
        Lanes lanes;
        memcpy(&lanes, from, sizeof lanes);
        return lanes;
    }

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
        constexpr auto& kPlaces = FadedSums<Sum, N>::kPlaces;
        Sum most = 0;
        for (int i = 0; i < N; ++i) most = std::max(most, sums[kPlaces.start[i]]);
        shift_ = std::max(0, 34 - std::countl_zero(uint64_t(most + ridge_)));
#pragma GCC unroll 14
        for (int i = 0; i < N; ++i)
#pragma GCC unroll 4
            for (int k = i / kLanes; k < kGroups; ++k) {
                const int j = k * kLanes;
                const Lanes values =
                    (load(sums + kPlaces.start[i] - i + j) & load(&kMasks.used[i][j])) +
                    (load(&kMasks.diagonal[i][j]) & Sum(ridge_));
                rows_[i][k] = __builtin_convertvector(values >> shift_, Doubles4) + kRaised;
            }
    }

    // Drops the fractions of values below 2^51.
    static MMP_INLINE Doubles4 whole(Doubles4 values) {
        constexpr int64_t kSign = int64_t{1} << 63;
        const Longs4 negative = Longs4(values) | kSign, signs = ~Longs4(values) & kSign;
        return Doubles4(Longs4(Doubles4(negative) + kRaised - kRaised) ^ signs);
    }

    // Makes the coefficients of regressor I zero in the rows below row I.
    template <int I>
    MMP_INLINE void step() {
        constexpr double kEnlarged = 65536 * (1 + 1.0 / (int64_t{1} << 50));
        constexpr int kFrom = (I + 1) / kLanes;
        const double diagonal = rows_[I][I / kLanes][I % kLanes] - kRaised;
        const double inverse = kEnlarged / diagonal;
        least_ = std::min(least_, diagonal);
        inverses_[I / kLanes][I % kLanes] = inverse * (1.0 / 65536);
        Doubles4 factors[kGroups] = {}, pivot[kGroups];
        for (int k = kFrom; k < kGroups; ++k) {
            const Longs4 lane = Longs4{0, 1, 2, 3} + kLanes * k;
            const Doubles4 value = lane > I ? rows_[I][k] - kRaised : Doubles4{};
            rows_[I][k] = value;
            pivot[k] = value * (1.0 / 65536);
            const Doubles4 quotient = value * inverse, change = pivot[k] * quotient;
            worst_[k] = change > worst_[k] ? change : worst_[k];
            factors[k] = whole(quotient);
            factors_[I][k] = factors[k] * (1.0 / 65536);
        }
#pragma GCC unroll 14
        for (int r = I + 1; r < N; ++r)
            for (int k = r / kLanes; k < kGroups; ++k)
                rows_[r][k] -= factors[r / kLanes][r % kLanes] * pivot[k];
    }

    // Computes the sum of weights times regressors; returns whether it is sure.
    template <int... I>
    MMP_INLINE bool substitute(const Sum* targets, const Regressors& regressors, int64_t& sum,
                               Fit& next, std::integer_sequence<int, I...>) const {
        Doubles4 y[kGroups], most = {};
        alignas(64) double rest[kColumns], u[kColumns];
        for (int k = 0; k < kGroups; ++k) {
            const Lanes prior = k ? Lanes{} : load(kPrior) * Sum(ridge_) >> 3;
            const Lanes side = (load(targets + k * kLanes) + prior) >> shift_;
            y[k] = __builtin_convertvector(side, Doubles4) + kRaised;
        }
        (forward<I>(y), ...);
        for (int k = 0; k < kGroups; ++k) {
            y[k] -= kRaised;
            const Doubles4 change = y[k] * y[k] * inverses_[k];
            most = change > most ? change : most;
            most = worst_[k] > most ? worst_[k] : most;
            y[k] *= 1 << kWeightBits;
            memcpy(rest + k * kLanes, &y[k], sizeof y[k]);
            Ints4 some;
            memcpy(&some, reinterpret_cast<const int32_t*>(&regressors) + k * kLanes, sizeof some);
            const Doubles4 wide = __builtin_convertvector(some, Doubles4);
            memcpy(u + k * kLanes, &wide, sizeof wide);
        }
        double total = 0, farthest = 0;
        (backward<N - 1 - I>(rest, u, total, farthest, next), ...);
        const bool sure =
            farthest <= kMostWeight && least_ >= 16 && largest(most) <= kMostChange;
        sum = sure ? int64_t(total) : 0;
        return sure;
    }
    template <int I>
    MMP_INLINE void forward(Doubles4* y) const {
        const double pivot = y[I / kLanes][I % kLanes] - kRaised;
        for (int k = (I + 1) / kLanes; k < kGroups; ++k) y[k] -= factors_[I][k] * pivot;
    }
    template <int I>
    MMP_INLINE void backward(double* rest, const double* u, double& total, double& farthest,
                             Fit& next) const {
        const double weight = __builtin_trunc(rest[I] * inverses_[I / kLanes][I % kLanes]);
        farthest = std::max(farthest, __builtin_fabs(weight));
        total += weight * u[I];
#pragma GCC unroll 14
        for (int j = I - 1; j >= 0; --j) rest[j] -= rows_[j][I / kLanes][I % kLanes] * weight;
        if constexpr (N - 1 - I < kMeanwhile) next.template step<N - 1 - I>();
    }

    static MMP_INLINE double largest(Doubles4 v) {
        return std::max(std::max(v[0], v[1]), std::max(v[2], v[3]));
    }

    __attribute__((noinline)) int64_t integer_sum(const Sum* targets,
                                                  const Regressors& regressors) const {
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
        for (int i = 0; i < N; ++i) sum += int64_t{weights[i]} * regressors.halves[i / 8][i % 8];
        return sum;
    }

    const int64_t ridge_;
    alignas(64) Sum matrix_[FadedSums<Sum, N>::kPlaces.size];
    int shift_ = 0;
    Doubles4 rows_[N][kGroups];
    double least_;        // least value on the diagonal
    Doubles4 worst_[kGroups];  // largest changes of the diagonal
    Doubles4 factors_[N][kGroups];
    Doubles4 inverses_[kGroups] = {};
};

}  // namespace mmp
