// The weights of regressors that fit the samples before, and the prediction by them.
// Source: section "Weights" of docs/format/format.md.
#pragma once

#include <fenv.h>
#include <float.h>
#include <stdint.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "cpu/lossless/prediction.h"
#include "cpu/lossless/sums.h"
#include "cpu/runtime/simd.h"

namespace mmp {

// Floating point rounds to nearest while it lives, also if the caller's does not.
class Nearest {
public:
    Nearest() : before_(fegetround()) {
        if (before_ != FE_TONEAREST) fesetround(FE_TONEAREST);
    }
    ~Nearest() {
        if (before_ != FE_TONEAREST) fesetround(before_);
    }

private:
    const int before_;
};

// Whether doubles can hold the integers. Processors that compute with more digits than a double
// has, and options that let the compiler change arithmetic, get integers.
#if defined(__FAST_MATH__) || FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 2
constexpr bool kExactDoubles = false;
#else
constexpr bool kExactDoubles = true;
#endif

// Solves the equations of a sample in two steps: the elimination needs only the products of
// regressors, drift() also those with the target. The caller lets floating point round to nearest.
//
// Doubles hold integers here, and each machine gets the integers of the format:
// - Values on the diagonal start below 2^29 and only fall, because a factor has the sign of its
//   pivot. Values beside it start at 2^29 at most. The changes of the diagonal, v^2 / d for a value
//   v in the row of the diagonal d, bound what a delta step: |v w| / d is not above the larger
//   one of v^2 / d and w^2 / d. While none exceeds 2^31 and all d are 16 or more, |v| <= 2^30,
//   factors are 2^30 at most, and no limit of the format matters. A step that breaks this is
//   computed well enough to show it. Else drift() solves with integers.
// - Integers near kRaised have no fraction. Products are multiples of 2^-16 below 2^33, so they are
//   exact. Less by almost a half, they round to the integer below, and never lie in the middle.
// - Inverses are too large by 2^-50 of themselves. This is more than roundings take off, so no
//   quotient falls below an integer that it should be.
// - A factor is the quotient 65536 |v| / d <= 2^46 / d without its fraction. It is too large by
//   less than 1 / (4 d). Less by 1 / 2 - 2^-31, it rounds to the integer below, because the next
//   one is 1 / d > 2^-30 away or more.
// - A weight is a quotient below 2^18 if it is used, so it is too large by less than 2^-31, and its
//   fraction is cut off. What is divided stays below 2^53: 38 products of 2^47, and 2^44.
// - So it does not matter whether a compiler merges a product and a sum: products that are
//   subtracted are exact, and a quotient with one rounding less is closer.
template <class Sum>
class Fit {
public:
    static constexpr int N = kNearRegressors;

    explicit Fit(int bits) : ridge_(ridge_of(bits)) {}

    // Where FadedSums puts the products of regressors.
    Sum* matrix() { return matrix_; }

    // Prepares the steps of the elimination.
    MMP_INLINE void begin() {
        set_rows(matrix_);
        std::fill_n(worst_, kColumns, 0.0);
        least_ = kMostChange;
    }
    // Does all steps. It is compiled for the lowest SIMD level, because only rows begin with it.
    __attribute__((noinline)) void eliminate_all() { eliminate<0>(); }

    // Returns the predicted difference of a sample from its level, in 1/64 of a sample's unit.
    // Meanwhile it does the steps of the next sample.
    MMP_INLINE int drift(const Sum* targets, const Regressors& regressors, Fit& next) const {
        constexpr int kDropped = kWeightBits - kFractionBits;
        int64_t sum;
        const bool sure =
            substitute(targets, regressors, sum, next, std::make_integer_sequence<int, N>());
        next.template eliminate<kMeanwhile>();
        if (!kExactDoubles || !sure) [[unlikely]] sum = integer_sum(targets, regressors);
        return int((sum + (1 << (kDropped - 1))) >> kDropped);
    }

private:
    static constexpr int kMeanwhile = 6;  // steps that take as long as drift()
    static constexpr Sum kPrior[4] = {5, 5, -3, 1};
    static constexpr double kRaised = 3.0 * (int64_t{1} << 51), kMostChange = 2147483648.0;
    static constexpr double kUnit = 1.0 / 65536, kAlmostHalf = 0.5 - kUnit / 2;
    static constexpr double kNearlyHalf = 0.5 - 1.0 / (int64_t{1} << 31);
    static constexpr int kLanes = 4, kGroups = (N + kLanes - 1) / kLanes;
    static constexpr int kColumns = kGroups * kLanes;

    typedef Sum Lanes __attribute__((vector_size(kLanes * sizeof(Sum))));

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

    static MMP_INLINE Doubles4 group(const double* row, int k) {
        return loaded<Doubles4>(row + k * kLanes);
    }
    static MMP_INLINE Doubles4 larger(Doubles4 a, Doubles4 b) { return a > b ? a : b; }

    MMP_INLINE void set_rows(const Sum* sums) {
        Sum most = 0;
        for (int i = 0; i < N; ++i) most = std::max(most, sums[kSumPlaces.start[i]]);
        shift_ = std::max(0, 35 - std::countl_zero(uint64_t(most + ridge_)));
#pragma GCC unroll 8
        for (int i = 0; i < N; ++i)
#pragma GCC unroll 4
            for (int j = i / kLanes * kLanes; j < kColumns; j += kLanes) {
                const Lanes values = (loaded<Lanes>(sums + kSumPlaces.start[i] - i + j) &
                                      loaded<Lanes>(&kMasks.used[i][j])) +
                                     (loaded<Lanes>(&kMasks.diagonal[i][j]) & Sum(ridge_));
                store(rows_[i] + j, __builtin_convertvector(values >> shift_, Doubles4) + kRaised);
            }
    }

    // Does the steps from I on.
    template <int I>
    MMP_INLINE void eliminate() {
        step<I>();
        if constexpr (I + 1 < N) eliminate<I + 1>();
    }

    // Makes the coefficients of regressor I zero in the rows below row I.
    template <int I>
    MMP_INLINE void step() {
        constexpr double kEnlarged = 65536 * (1 + 1.0 / (int64_t{1} << 50));
        constexpr int64_t kSign = int64_t(uint64_t{1} << 63);
        constexpr int kFrom = (I + 1) / kLanes;
        const double diagonal = rows_[I][I] - kRaised, inverse = kEnlarged / diagonal;
        least_ = std::min(least_, diagonal);
        inverses_[I] = inverse * kUnit;
        Doubles4 factors[kGroups] = {}, pivot[kGroups];
        for (int k = kFrom; k < kGroups; ++k) {
            const Longs4 lane = Longs4{0, 1, 2, 3} + kLanes * k;
            const Doubles4 value = lane > I ? group(rows_[I], k) - kRaised : Doubles4{};
            const Doubles4 size = Doubles4(Longs4(value) & ~kSign), quotient = size * inverse;
            store(rows_[I] + k * kLanes, value);
            store(worst_ + k * kLanes, larger(size * kUnit * quotient, group(worst_, k)));
            const Doubles4 whole = quotient - kNearlyHalf + kRaised - kRaised;
            factors[k] = Doubles4(Longs4(whole) | (Longs4(value) & kSign));
            store(factors_[I] + k * kLanes, factors[k] * kUnit);
            pivot[k] = value * kUnit;
        }
#pragma GCC unroll 8
        for (int r = I + 1; r < N; ++r)
            for (int k = r / kLanes; k < kGroups; ++k) {
                const Doubles4 change = factors[r / kLanes][r % kLanes] * pivot[k] - kAlmostHalf;
                store(rows_[r] + k * kLanes, group(rows_[r], k) - change);
            }
    }

    // Computes the sum of weights times regressors; returns whether it is sure.
    template <int... I>
    MMP_INLINE bool substitute(const Sum* targets, const Regressors& regressors, int64_t& sum,
                               Fit& next, std::integer_sequence<int, I...>) const {
        Doubles4 y[kGroups], most = {};
        alignas(64) double rest[kColumns], u[kColumns];
        for (int k = 0; k < kGroups; ++k) {
            const Lanes prior = k ? Lanes{} : loaded<Lanes>(kPrior) * Sum(ridge_) >> 3;
            const Lanes side = (loaded<Lanes>(targets + k * kLanes) + prior) >> shift_;
            y[k] = __builtin_convertvector(side, Doubles4) + kRaised;
        }
        (forward<I>(y), ...);
        for (int k = 0; k < kGroups; ++k) {
            y[k] -= kRaised;
            most = larger(y[k] * y[k] * group(inverses_, k), most);
            most = larger(group(worst_, k), most);
            y[k] *= 1 << kWeightBits;
            store(rest + k * kLanes, y[k]);
            const Ints4 some = loaded<Ints4>(regressors.lanes + k * kLanes);
            store(u + k * kLanes, __builtin_convertvector(some, Doubles4));
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
        for (int k = (I + 1) / kLanes; k < kGroups; ++k)
            y[k] -= group(factors_[I], k) * pivot - kAlmostHalf;
    }
    template <int I>
    MMP_INLINE void backward(double* rest, const double* u, double& total, double& farthest,
                             Fit& next) const {
        const double weight = __builtin_trunc(rest[I] * inverses_[I]);
        farthest = std::max(farthest, __builtin_fabs(weight));
        total += weight * u[I];
#pragma GCC unroll 8
        for (int j = I - 1; j >= 0; --j) rest[j] -= rows_[j][I] * weight;
        if constexpr (N - 1 - I < kMeanwhile) next.template step<N - 1 - I>();
    }

    static MMP_INLINE double largest(Doubles4 v) {
        return std::max(std::max(v[0], v[1]), std::max(v[2], v[3]));
    }

    __attribute__((noinline)) int64_t integer_sum(const Sum* targets,
                                                  const Regressors& regressors) const {
        int64_t m[kMostUnknowns][kMostUnknowns + 1];
        int32_t weights[kMostUnknowns];
        for (int i = 0; i < N; ++i) {
            for (int j = i; j < N; ++j)
                m[i][j] = (matrix_[kSumPlaces.start[i] + j - i] + (i == j ? ridge_ : 0)) >> shift_;
            m[i][N] = right_side(targets, i) >> shift_;
        }
        solve(m, N, weights);
        int64_t sum = 0;
        for (int i = 0; i < N; ++i) sum += int64_t{weights[i]} * regressors.lanes[i];
        return sum;
    }

    const int64_t ridge_;
    alignas(64) Sum matrix_[kSumPlaces.size];
    int shift_ = 0;
    double least_;  // least value on the diagonal
    alignas(64) double rows_[N][kColumns];
    alignas(64) double worst_[kColumns];  // largest changes of the diagonal
    alignas(64) double factors_[N][kColumns];
    alignas(64) double inverses_[kColumns] = {};
};

}  // namespace mmp
