// Sums of products of regressors, whose weight fades with the distance from a sample.
// Source: section "Sums" of docs/format/format.md.
#pragma once

#include <stdint.h>
#include <string.h>

#include <algorithm>

#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

constexpr int kNearRegressors = 8;  // those beyond the format's are 0

// Places of the sums of products u_i u_j, i <= j. The products of one i are a row; its sums lie
// side by side, and no row crosses a multiple of 8.
struct SumPlaces {
    int start[kNearRegressors] = {};  // of the sum of u_i u_i
    int size = 0;                     // of all places, a multiple of 8

    constexpr SumPlaces() {
        int used[kNearRegressors] = {};
        for (int i = 0; i < kNearRegressors; ++i) {
            const int count = kNearRegressors - i;
            int group = 0;
            while (used[group] + count > kNearRegressors) ++group;
            start[i] = group * kNearRegressors + used[group];
            used[group] += count;
            size = std::max(size, (group + 1) * kNearRegressors);
        }
    }
};
inline constexpr SumPlaces kSumPlaces;

// The regressors of a sample.
struct Regressors {
    alignas(32) int32_t lanes[kNearRegressors];
};

// Vectors have 32 bytes, because compilers split longer ones badly where the machine lacks them.
template <class Sum>
struct SumLanes;
template <> struct SumLanes<int32_t> { using Type = Ints8; };
template <> struct SumLanes<int64_t> { using Type = Longs4; };

// Sums around the samples of a plane. Sum is int32_t where samples have eight bits at most. The
// sums of products of regressors do not depend on the sample before, so they are ready earlier than
// the sums of products with the target.
template <class Sum>
class FadedSums {
public:
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
                store(&right_[place - kStride],
                      faded(loaded<Lanes>(&right_[place]) + loaded<Lanes>(&down_[place])));
            }
    }

    // Finds the sums of products of regressors for the sample in this column.
    MMP_INLINE void find_matrix(int column, Sum* found) { find<0, kSumPlaces.size>(column, found); }
    // Finds the sums of products with the target for the sample in this column.
    MMP_INLINE void find_targets(int column, Sum* found) {
        find<kSumPlaces.size, kStride>(column, found);
    }

    // Adds the products of the regressors of a sample.
    MMP_INLINE void add_regressors(int column, const Regressors& u) {
        const auto lanes = loaded<Ints8>(u.lanes);
#pragma GCC unroll 8
        for (int k = 0; k < kSumPlaces.size; k += kNearRegressors)
            add_products(column, k, chosen_lanes(lanes, lanes, loaded<Ints8>(&kPairs.first[k])),
                         chosen_lanes(lanes, lanes, loaded<Ints8>(&kPairs.second[k])));
    }
    // Adds the products of the regressors with the target.
    MMP_INLINE void add_target(int column, const Regressors& u, int32_t target) {
        add_products(column, kSumPlaces.size, loaded<Ints8>(u.lanes), Ints8{} + target);
    }

private:
    using Lanes = typename SumLanes<Sum>::Type;
    static constexpr int kLanes = sizeof(Lanes) / sizeof(Sum);
    static constexpr int kStride = kSumPlaces.size + kNearRegressors;

    // The regressors whose product is in each place.
    struct Pairs {
        int32_t first[kSumPlaces.size] = {}, second[kSumPlaces.size] = {};

        constexpr Pairs() {
            for (int i = 0; i < kNearRegressors; ++i)
                for (int j = i; j < kNearRegressors; ++j) {
                    first[kSumPlaces.start[i] + j - i] = i;
                    second[kSumPlaces.start[i] + j - i] = j;
                }
        }
    };
    static constexpr Pairs kPairs{};

    template <class Value>
    static MMP_INLINE Value faded(Value sum) {
        return sum - (sum >> 2) - (sum >> 4);
    }

    template <int From, int To>
    MMP_INLINE void find(int column, Sum* to) {
        const size_t start = size_t(column) * kStride;
        for (int k = From; k < To; k += kLanes) {
            const Lanes left =
                faded(loaded<Lanes>(left_ + k)) + loaded<Lanes>(&down_[start + k]);
            store(left_ + k, left);
            store(to + k - From,
                  faded(left + loaded<Lanes>(&right_[start + k])) + loaded<Lanes>(row_ + k));
        }
    }

    MMP_INLINE void add_products(int column, int k, Ints8 a, Ints8 b) {
        if constexpr (kLanes == kNearRegressors) {
            add(column, k, a * b * 256);
        } else {
            add(column, k, lower(a) * lower(b) * 256);
            add(column, k + kLanes, upper(a) * upper(b) * 256);
        }
    }
    static MMP_INLINE Longs4 lower(Ints8 v) {
        return __builtin_convertvector(__builtin_shufflevector(v, v, 0, 1, 2, 3), Longs4);
    }
    static MMP_INLINE Longs4 upper(Ints8 v) {
        return __builtin_convertvector(__builtin_shufflevector(v, v, 4, 5, 6, 7), Longs4);
    }

    MMP_INLINE void add(int column, int k, Lanes product) {
        Sum* down = &down_[size_t(column) * kStride + k];
        store(down, faded(loaded<Lanes>(down)) + product);
        store(row_ + k, faded(loaded<Lanes>(row_ + k) + product));
    }

    int width_;
    ZeroedLines<Sum> down_;   // sums of the samples above each place, faded downwards, by column
    ZeroedLines<Sum> right_;  // sums of the samples right of each column, faded to the left
    alignas(64) Sum left_[kStride], row_[kStride];
};

}  // namespace mmp
