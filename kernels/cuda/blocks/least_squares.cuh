// Least-squares prediction: the weights of the neighbours are fitted to the decoded samples around
// the block.
#pragma once

#include "cuda/blocks/state.cuh"
#include "cuda/device/warp.cuh"

namespace mmp {

// Shared scratch memory of a fit.
struct FitMemory {
    int32_t sums[kTaps][kTerms];
    int32_t weight[kTaps];
    int16_t values[(kMaxSide + 2) * (kMaxSide + 3)];
};

// Returns n / d, truncated, for d > 0. The quotient in double precision is much faster than a
// 64-bit integer division; a correction makes it exact.
__device__ inline int64_t quotient(int64_t n, int64_t d) {
    int64_t q = int64_t(double(n) / double(d));
    const int64_t rest = n - q * d;
    if (n >= 0 ? rest < 0 : rest <= -d) --q;
    if (n >= 0 ? rest >= d : rest > 0) ++q;
    return q;
}

// Fits the weights of the neighbours to the decoded samples around a block. One warp calls it.
template <class View>
__device__ void fit_weights(const View& view, int row, int column, int a, int b, int picture_width,
                            FitMemory& memory) {
    const int lane = threadIdx.x % 32, height = 1 << a, width = 1 << b;
    const int first = column - kFitReach, beyond = column + width;
    int32_t sums[kTaps * (kTaps + 1) / 2 + kTaps];
    for (int32_t& sum : sums) sum = 0;
    const auto take = [&](int y, int x) {
        const int v[kTerms] = {view.at(y, x - 1) - kMidLevel,     view.at(y - 1, x) - kMidLevel,
                               view.at(y - 1, x - 1) - kMidLevel, view.at(y - 1, x + 1) - kMidLevel,
                               view.at(y, x - 2) - kMidLevel,     view.at(y - 2, x) - kMidLevel,
                               view.at(y, x) - kMidLevel};
        int n = 0;
#pragma unroll
        for (int p = 0; p < kTaps; ++p)
#pragma unroll
            for (int q = p; q < kTerms; ++q) sums[n++] += v[p] * v[q];
    };
    // All samples above and left of the block are decoded; to its right, only some units are.
    const auto known_to = [&](int y) {
        int x = beyond;
        while (x < beyond + kFitReach + 1 && view.known(y, x)) x += kUnit;
        return x;
    };
    const int span = width + 2 * kFitReach;
    for (int i = lane; i < kFitReach * span; i += 32) {
        const int y = row - kFitReach + i / span, x = first + i % span;
        if (x >= min(picture_width - 1, beyond + kFitReach)) continue;
        if (x < beyond - 1 || (x < known_to(y) && x < known_to(y - 1) - 1)) take(y, x);
    }
    for (int i = lane; i < height * kFitReach; i += 32) {
        const int y = row + i / kFitReach, x = first + i % kFitReach;
        if (x < (y == row ? column : column - 1)) take(y, x);
    }
    int n = 0;
#pragma unroll
    for (int p = 0; p < kTaps; ++p)
#pragma unroll
        for (int q = p; q < kTerms; ++q) {
            const int32_t sum = int32_t(warp_sum(uint32_t(sums[n++])));
            if (lane == 0) memory.sums[p][q] = sum;
        }
    __syncwarp();
    // Gaussian elimination with one lane per row.
    const int r = min(lane, kTaps - 1);
    int64_t m[kTerms];
#pragma unroll
    for (int q = 0; q < kTerms; ++q)
        m[q] = (int64_t{q < r ? memory.sums[q][r] : memory.sums[r][q]} + (q == r ? kDiagonal : 0)) *
               kFitScale;
#pragma unroll
    for (int i = 0; i < kTaps; ++i) {
        int64_t pivot[kTerms];
#pragma unroll
        for (int k = i; k < kTerms; ++k) {
            pivot[k] = limited(__shfl_sync(kAllLanes, m[k], i), kMostValue);
            if (k == i) pivot[k] = max(pivot[k], int64_t{kFitScale});
            if (r == i) m[k] = pivot[k];
        }
        const int64_t scaled = limited(m[i], kMostValue) * 65536;
        const int64_t f = r > i ? limited(quotient(scaled, pivot[i]), kMostFactor) : 0;
#pragma unroll
        for (int k = i; k < kTerms; ++k) m[k] -= (f * pivot[k]) >> 16;
    }
    int64_t rest = m[kTaps] * 4096;
#pragma unroll
    for (int i = kTaps - 1; i >= 0; --i) {
        int64_t weight = 0;
        if (r == i) {
            weight = limited(quotient(rest, m[i]), kMostWeight);
        }
        weight = __shfl_sync(kAllLanes, weight, i);
        if (lane == i) memory.weight[i] = int32_t(weight);
        if (r < i) rest -= m[i] * weight;
    }
    __syncwarp();
}

// Predicts a block by least squares, row by row. One warp calls it.
template <class View>
__device__ void predict_least_squares(const View& view, int row, int column, int a, int b,
                                      int picture_width, FitMemory& memory, uint8_t* out) {
    fit_weights(view, row, column, a, b, picture_width, memory);
    const int lane = threadIdx.x % 32, height = 1 << a, width = 1 << b;
    // The block, two rows above it, two columns left of it and one column right of it.
    const int row_length = width + 3;
    int16_t* v = memory.values + 2 * row_length + 2;
    const auto decoded = [&](int i, int j) {
        return int16_t((view.at(row + i, column + j) - kMidLevel) * 16);
    };
    for (int i = lane; i < 2 * row_length; i += 32) {
        const int y = i / row_length - 2, x = i % row_length - 2;
        const bool there = x < width || view.known(row + y, column + x);
        v[y * row_length + x] = decoded(y, there ? x : width - 1);
    }
    for (int i = lane; i < 2 * height; i += 32)
        v[i / 2 * row_length + i % 2 - 2] = decoded(i / 2, i % 2 - 2);
    int32_t c[kTaps];
    for (int k = 0; k < kTaps; ++k) c[k] = memory.weight[k];
    __syncwarp();
    // Samples on a line with slope (1 down, 2 left) do not depend on each other, so a warp computes
    // them in parallel.
    for (int line = 0; line < width + 2 * (height - 1); ++line) {
        for (int i = lane; i < height; i += 32) {
            const int j = line - 2 * i;
            if (j < 0 || j >= width) continue;
            int16_t* n = v + i * row_length + j;
            const int value =
                fitted_value(c[0] * n[-1] + c[1] * n[-row_length] + c[2] * n[-row_length - 1] +
                             c[3] * n[-row_length + 1] + c[4] * n[-2] + c[5] * n[-2 * row_length]);
            n[0] = int16_t(value);
            if (j == width - 1) n[1] = int16_t(value);
            out[i * width + j] = fitted_sample(value);
        }
        __syncwarp();
    }
}

}  // namespace mmp
