// Summary (piece) of a part of a sequence, and the join of two adjacent pieces, which is
// associative: a piece holds the sums that determine the best interval of a join. Source: K.
// Perumalla and N. Deo, "Parallel algorithms for maximum subsequence and maximum subarray",
// Parallel Processing Letters 1995.
#pragma once

#include "cuda/device/warp.cuh"

namespace mmp {

constexpr int64_t kLowestSum = -static_cast<int64_t>(0x7FFFFFFFFFFFFFFFll) - 1;
constexpr int64_t kHighestSum = 0x7FFFFFFFFFFFFFFFll;

// The prefix sum before the first value is 0. Among equal prefix sums, the first place is kept.
struct Piece {
    int64_t sum;
    int64_t least, least_at;  // least prefix sum before a value, index of the value; -1: empty
    int64_t most, most_at;    // largest prefix sum after a value, index of the next value
    int64_t best, start, stop;
};

__device__ inline Piece no_values() { return {0, 0, -1, 0, 0, 0, 0, 0}; }

// A piece that grows by one value at a time; indices are relative to its beginning.
struct GrowingPiece {
    int64_t sum, least, most, best;
    int least_at, most_at, start, stop;

    __device__ void add(int64_t value, int at) {
        if (sum < least) {
            least = sum;
            least_at = at;
        }
        sum += value;
        if (sum - least > best) {
            best = sum - least;
            start = least_at;
            stop = at + 1;
        }
        if (sum > most) {
            most = sum;
            most_at = at + 1;
        }
    }
};

__device__ inline GrowingPiece start_piece() {
    return {0, kHighestSum, kLowestSum, kLowestSum, -1, 0, 0, 0};
}

__device__ inline Piece piece_at(const GrowingPiece& grown, int64_t base) {
    if (grown.least_at < 0) return no_values();
    return {grown.sum,  grown.least,           base + grown.least_at, grown.most,
            base + grown.most_at, grown.best, base + grown.start,    base + grown.stop};
}

__device__ inline void take_better(Piece& piece, int64_t best, int64_t start, int64_t stop) {
    const bool wins = best > piece.best ||
                      (best == piece.best &&
                       (start < piece.start || (start == piece.start && stop < piece.stop)));
    if (!wins) return;
    piece.best = best;
    piece.start = start;
    piece.stop = stop;
}

__device__ inline Piece join(const Piece& a, const Piece& b) {
    if (a.least_at < 0) return b;
    if (b.least_at < 0) return a;
    Piece joined = a;
    take_better(joined, a.sum + b.most - a.least, a.least_at, b.most_at);
    take_better(joined, b.best, b.start, b.stop);
    if (a.sum + b.least < a.least) {
        joined.least = a.sum + b.least;
        joined.least_at = b.least_at;
    }
    if (a.sum + b.most > a.most) {
        joined.most = a.sum + b.most;
        joined.most_at = b.most_at;
    }
    joined.sum = a.sum + b.sum;
    return joined;
}

// Warp reduction: joins the pieces of all lanes in order; lane 0 returns the result.
__device__ inline Piece join_warp(Piece mine) {
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int step = 1; step < 32; step *= 2) {
        Piece other;
        const int64_t* from = reinterpret_cast<const int64_t*>(&mine);
        int64_t* to = reinterpret_cast<int64_t*>(&other);
#pragma unroll
        for (int i = 0; i < static_cast<int>(sizeof(Piece) / 8); ++i)
            to[i] = __shfl_down_sync(kAllLanes, from[i], step);
        if (lane % (2 * step) == 0) mine = join(mine, other);
    }
    return mine;
}

}  // namespace mmp
