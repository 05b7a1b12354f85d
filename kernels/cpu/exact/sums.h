// Sums of products of regressors, whose weight fades with the distance from a sample.
// Source: section "Sums" of docs/format/format.md.
#pragma once

#include <stdint.h>
#include <string.h>

#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

constexpr int kMostRegressors = 14;
constexpr int kPaddedRegressors = 16;

// Places of the sums of products u_i u_j, i <= j, for N regressors. The products of one i are a row;
// its sums lie side by side, and no row crosses a multiple of 16.
template <int N>
struct SumPlaces {
    int start[N] = {};  // of the sum of u_i u_i
    int size = 0;       // of all places, a multiple of 16

    constexpr SumPlaces() {
        int used[N] = {};
        for (int i = 0; i < N; ++i) {
            int group = 0;
            while (used[group] + N - i > kPaddedRegressors) ++group;
            start[i] = group * kPaddedRegressors + used[group];
            used[group] += N - i;
            if (size < (group + 1) * kPaddedRegressors) size = (group + 1) * kPaddedRegressors;
        }
    }
};

template <class Sum>
struct SumLanes;
template <> struct SumLanes<int32_t> { using Type = Ints16; };
template <> struct SumLanes<int64_t> { using Type = Longs8; };

// Sums around the samples of a plane. Sum is int32_t where samples have eight bits at most. The
// sums of products of regressors do not depend on the sample before, so they are ready earlier than
// the sums of products with the target.
template <class Sum, int N>
class FadedSums {
public:
    static constexpr SumPlaces<N> kPlaces{};

    explicit FadedSums(int width)
        : width_(width),
          down_(size_t(width) * kStride),
          right_(size_t(width) * kStride) {}

    MMP_INLINE void begin_row(int row) {
        memset(left_, 0, sizeof left_);
        memset(row_, 0, sizeof row_);
        if (!row) return;
        for (int column = width_ - 1; column > 0; --column)
            for (int k = 0; k < kStride; k += kLanes) {
                const size_t place = size_t(column) * kStride + k;
                const Lanes next = faded(load(&right_[place]) + load(&down_[place]));
                memcpy(&right_[place - kStride], &next, sizeof next);
            }
    }

    // Finds the sums of products of regressors for the sample in this column.
    MMP_INLINE void find_matrix(int column, Sum* found) { find<0, kPlaces.size>(column, found); }
    // Finds the sums of products with the target for the sample in this column, 16 with zeros at the
    // end.
    MMP_INLINE void find_targets(int column, Sum* found) {
        find<kPlaces.size, kStride>(column, found);
    }

    // Adds the products of the regressors of a sample; those beyond the last are 0.
    MMP_INLINE void add_regressors(int column, const Ints16& regressors) {
        Lanes u[kPaddedRegressors / kLanes];
        widen(regressors, u);
        for (int k = 0; k < kPlaces.size; k += kLanes) {
            Lanes a, b;
            memcpy(&a, &kPairs.first[k], sizeof a);
            memcpy(&b, &kPairs.second[k], sizeof b);
            constexpr int kLast = kPaddedRegressors / kLanes - 1;
            add(column, k, chosen_lanes(u[0], u[kLast], a) * chosen_lanes(u[0], u[kLast], b) * 256);
        }
    }
    // Adds the products of the regressors with the target.
    MMP_INLINE void add_target(int column, const Ints16& regressors, int32_t target) {
        Lanes u[kPaddedRegressors / kLanes];
        widen(regressors, u);
        for (int k = 0; k < kPaddedRegressors; k += kLanes)
            add(column, kPlaces.size + k, u[k / kLanes] * (Sum(target) * 256));
    }

private:
    using Lanes = typename SumLanes<Sum>::Type;
    static constexpr int kLanes = sizeof(Lanes) / sizeof(Sum);
    static constexpr int kStride = kPlaces.size + kPaddedRegressors;

    // The regressors whose product is in each place.
    struct Pairs {
        Sum first[kPlaces.size] = {}, second[kPlaces.size] = {};

        constexpr Pairs() {
            for (int i = 0; i < N; ++i)
                for (int j = i; j < N; ++j) {
                    first[kPlaces.start[i] + j - i] = i;
                    second[kPlaces.start[i] + j - i] = j;
                }
        }
    };
    static constexpr Pairs kPairs{};

    template <class Value>
    static MMP_INLINE Value faded(Value sum) {
        return sum - (sum >> 3) - (sum >> 4);
    }

    static MMP_INLINE void widen(const Ints16& regressors, Lanes* u) {
        if constexpr (kLanes == kPaddedRegressors) {
            u[0] = regressors;
        } else {
            u[0] = __builtin_convertvector(lower_half(regressors), Lanes);
            u[1] = __builtin_convertvector(upper_half(regressors), Lanes);
        }
    }

    static MMP_INLINE Lanes load(const Sum* from) {
        Lanes lanes;
        memcpy(&lanes, from, sizeof lanes);
        return lanes;
    }

    template <int From, int To>
    MMP_INLINE void find(int column, Sum* to) {
        const size_t start = size_t(column) * kStride;
        for (int k = From; k < To; k += kLanes) {
            const Lanes left = faded(load(left_ + k)) + load(&down_[start + k]);
            const Lanes found = faded(left + load(&right_[start + k])) + load(row_ + k);
            memcpy(left_ + k, &left, sizeof left);
            memcpy(to + k - From, &found, sizeof found);
        }
    }

    MMP_INLINE void add(int column, int k, Lanes product) {
        Sum* down = &down_[size_t(column) * kStride + k];
        const Lanes below = faded(load(down)) + product;
        const Lanes beside = faded(load(row_ + k) + product);
        memcpy(down, &below, sizeof below);
        memcpy(row_ + k, &beside, sizeof beside);
    }

    int width_;
    ZeroedLines<Sum> down_;   // sums of the samples above each place, faded downwards, by column
    ZeroedLines<Sum> right_;  // sums of the samples right of each column, faded to the left
    alignas(64) Sum left_[kStride], row_[kStride];
};

}  // namespace mmp
