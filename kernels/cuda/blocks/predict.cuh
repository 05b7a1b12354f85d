// Predicting blocks.
#pragma once

#include "cuda/blocks/state.cuh"
#include "cuda/device/warp.cuh"

namespace mmp {

constexpr int kMidSample = 128;
constexpr int kReferences = 2 * kMaxSide;

// Samples above a block, left of it, and the corner.
struct References {
    int16_t above[kReferences], left[kReferences];
    int16_t corner;
};

// What an angle takes its samples from: number 1 on of its own side, 0 the corner, and before it the
// other side.
struct Line {
    static constexpr int kBefore = kMaxSide, kLength = kBefore + 2 * kMaxSide + 4;
    int16_t samples[kLength];
};

// What the other modes predict a block from.
struct PredictMemory {
    References plain, smooth;
    int32_t average;
};

// What fitting a block needs.
struct FitMemory {
    int32_t sums[kTaps][kTerms];
    int32_t weight[kTaps];
    int16_t values[(kMaxSide + 2) * (kMaxSide + 3)];
};

// Decoded samples at places of a plane.
struct PlaneView {
    const uint8_t* samples;
    int width, height;

    __device__ int at(int row, int column) const { return samples[int64_t{row} * width + column]; }
    __device__ bool known(int row, int column) const { return row < height && column < width; }
};

// Takes so many samples above and left of a block, the last repeated, and smooths them. By one warp.
template <class View>
__device__ void gather_references(const View& view, int row, int column, int a, int b, int above,
                                  int left, PredictMemory& memory) {
    const int lane = threadIdx.x % 32, length = (1 << a) + (1 << b);
    const int first = above  ? view.at(row - 1, column)
                      : left ? view.at(row, column - 1)
                             : kMidSample;
    References& plain = memory.plain;
    int sum = 0;
    for (int i = lane; i < length; i += 32) {
        const int over = above ? view.at(row - 1, column + min(i, above - 1)) : first;
        const int beside = left ? view.at(row + min(i, left - 1), column - 1) : first;
        plain.above[i] = int16_t(over);
        plain.left[i] = int16_t(beside);
        sum += (i < 1 << b ? over : 0) + (i < 1 << a ? beside : 0);
    }
    sum = int(warp_sum(uint32_t(sum)));
    if (lane == 0) {
        plain.corner = int16_t(above && left ? view.at(row - 1, column - 1) : first);
        memory.average = (sum + length / 2) / length;
    }
    __syncwarp();
    if (length < kSmoothedFrom) return;
    References& smooth = memory.smooth;
    for (int i = lane; i < length; i += 32) {
        const int after = min(i + 1, length - 1);
        smooth.above[i] = int16_t(
            smoothed(i ? plain.above[i - 1] : plain.corner, plain.above[i], plain.above[after]));
        smooth.left[i] = int16_t(
            smoothed(i ? plain.left[i - 1] : plain.corner, plain.left[i], plain.left[after]));
    }
    if (lane == 0)
        smooth.corner = int16_t(smoothed(plain.above[0], plain.corner, plain.left[0]));
}

// Sample `k` - Line::kBefore of the line of an angle.
__device__ inline int16_t line_sample(const PredictMemory& memory, int angle, int a, int b, int k) {
    const int slope = angle_slope(angle), length = (1 << a) + (1 << b);
    const References& r = slope == 0 || length < kSmoothedFrom ? memory.plain : memory.smooth;
    const bool turned = angle < kFirstVertical;
    k -= Line::kBefore;
    if (k > 0) return (turned ? r.left : r.above)[min(k, length) - 1];
    if (k == 0) return r.corner;
    return (turned ? r.above : r.left)[min(side_place(-k, -slope), length) - 1];
}

// How many samples of a line are used, and from which one on.
__device__ inline int line_start(int angle, int a, int b) {
    const int slope = angle_slope(angle);
    const int down = 1 << (angle < kFirstVertical ? b : a);
    return Line::kBefore + min(0, (down * slope) >> 5);
}
__device__ inline int line_end(int a, int b) { return Line::kBefore + (1 << a) + (1 << b) + 4; }

// A 4x4 piece of a prediction, its rows one after the other; those of angles before kFirstVertical
// are its columns.
struct Piece {
    int sample[kUnit * kUnit];
    bool turned;

    __device__ int place(int i, int width) const {
        const int y = i / kUnit, x = i % kUnit;
        return turned ? x * width + y : y * width + x;
    }
};

// The piece that begins at (row, column) of a block, in any mode but the least-squares one; an angle
// takes it from its line.
__device__ inline void predict_piece(int mode, const PredictMemory& memory, const Line& line, int a,
                                     int b, int row, int column, Piece& piece) {
    piece.turned = false;
    if (mode <= kAverage) {
        const int value = mode == kConstant ? kMidSample : memory.average;
        for (int& sample : piece.sample) sample = value;
        return;
    }
    if (mode == kPlanar) {
        const References& r = memory.plain;
        const int corner_above = r.above[1 << b], corner_left = r.left[1 << a];
        for (int i = 0; i < kUnit * kUnit; ++i) {
            const int y = row + i / kUnit, x = column + i % kUnit;
            piece.sample[i] =
                planar_sample(y, x, a, b, r.above[x], r.left[y], corner_above, corner_left);
        }
        return;
    }
    const int angle = angle_of(mode), slope = angle_slope(angle);
    piece.turned = angle < kFirstVertical;
    const int down = piece.turned ? column : row, across = piece.turned ? row : column;
    for (int y = 0; y < kUnit; ++y) {
        const int position = (down + y + 1) * slope;
        const int16_t* from = line.samples + Line::kBefore + (position >> 5) + across;
        const Taps taps = taps_of(position & 31);
        int near[kUnit + 3];
        for (int i = 0; i < kUnit + 3; ++i) near[i] = from[i];
        for (int x = 0; x < kUnit; ++x) {
            int sum = 32;
            for (int k = 0; k < 4; ++k) sum += taps.weight[k] * near[x + k];
            piece.sample[y * kUnit + x] = max(0, min(255, sum >> 6));
        }
    }
}

// Sum of absolute Hadamard differences of a piece, twice as large as it counts.
__device__ inline int hadamard_sum(const int (&d)[kUnit * kUnit]) {
    int t[kUnit * kUnit];
    for (int x = 0; x < kUnit; ++x) {
        const int u = d[x] + d[x + 8], v = d[x] - d[x + 8];
        const int m = d[x + 4] + d[x + 12], n = d[x + 4] - d[x + 12];
        t[x] = u + m, t[x + 4] = u - m, t[x + 8] = v + n, t[x + 12] = v - n;
    }
    int sum = 0;
    for (int y = 0; y < kUnit * kUnit; y += kUnit) {
        const int u = t[y] + t[y + 2], v = t[y] - t[y + 2];
        const int m = t[y + 1] + t[y + 3], n = t[y + 1] - t[y + 3];
        sum += abs(u + m) + abs(u - m) + abs(v + n) + abs(v - n);
    }
    return sum;
}

// Writes the 4x4 piece at (row, column) of a block to a prediction, row by row. Modes from
// kLeastSquares on take it from `whole`.
__device__ inline void write_piece(int mode, const PredictMemory& memory, const Line& line,
                                   const uint8_t* whole, int a, int b, int row, int column,
                                   uint8_t* prediction) {
    const int first = (row << b) + column;
    if (mode >= kLeastSquares) {
        for (int k = 0; k < kUnit * kUnit; ++k) {
            const int at = first + (k / kUnit << b) + k % kUnit;
            prediction[at] = whole[at];
        }
        return;
    }
    Piece piece;
    predict_piece(mode, memory, line, a, b, row, column, piece);
    for (int k = 0; k < kUnit * kUnit; ++k)
        prediction[first + piece.place(k, 1 << b)] = uint8_t(piece.sample[k]);
}

// The sum of absolute Hadamard differences of the 4x4 piece at (row, column) of a block, twice as
// large as it counts. source(row, column) gives a sample of the block.
template <class Source>
__device__ int piece_difference(int mode, const PredictMemory& memory, const Line& line,
                                const uint8_t* whole, int a, int b, int row, int column,
                                const Source& source) {
    int difference[kUnit * kUnit];
    if (mode >= kLeastSquares) {
        for (int k = 0; k < kUnit * kUnit; ++k) {
            const int y = row + k / kUnit, x = column + k % kUnit;
            difference[k] = source(y, x) - whole[(y << b) + x];
        }
    } else {
        Piece piece;
        predict_piece(mode, memory, line, a, b, row, column, piece);
        for (int k = 0; k < kUnit * kUnit; ++k) {
            const int place = piece.place(k, kUnit);
            difference[k] = source(row + place / kUnit, column + place % kUnit) - piece.sample[k];
        }
    }
    return hadamard_sum(difference);
}

// Adds up values of the threads of a warp in sums[key]; keys are the same throughout a warp if
// `uniform`.
__device__ inline void add_by_key(int32_t* sums, int key, int value, bool uniform) {
    if (uniform) {
        value = int(warp_sum(uint32_t(value)));
        if (threadIdx.x % 32 == 0) atomicAdd(sums + key, value);
    } else {
        atomicAdd(sums + key, value);
    }
}

// n / d, as integers divide, of a positive d; through floating point, which takes far less time.
__device__ inline int64_t quotient(int64_t n, int64_t d) {
    int64_t q = int64_t(double(n) / double(d));
    const int64_t rest = n - q * d;
    if (n >= 0 ? rest < 0 : rest <= -d) --q;
    if (n >= 0 ? rest >= d : rest > 0) ++q;
    return q;
}

// Fits the weights of neighbours to the samples around a block. By one warp.
template <class View>
__device__ void fit_weights(const View& view, int row, int column, int a, int b, int picture_width,
                            FitMemory& memory) {
    const int lane = threadIdx.x % 32, height = 1 << a, width = 1 << b;
    const int first = column - kFitReach, beyond = column + width;
    int32_t sums[kTaps * (kTaps + 1) / 2 + kTaps];
    for (int32_t& sum : sums) sum = 0;
    const auto take = [&](int y, int x) {
        const int v[kTerms] = {view.at(y, x - 1) - kMidSample,     view.at(y - 1, x) - kMidSample,
                               view.at(y - 1, x - 1) - kMidSample, view.at(y - 1, x + 1) - kMidSample,
                               view.at(y, x - 2) - kMidSample,     view.at(y - 2, x) - kMidSample,
                               view.at(y, x) - kMidSample};
        int n = 0;
#pragma unroll
        for (int p = 0; p < kTaps; ++p)
#pragma unroll
            for (int q = p; q < kTerms; ++q) sums[n++] += v[p] * v[q];
    };
    // All above and left of the block is decoded; to its right, some.
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
    // Elimination, a lane for each row.
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

// The least-squares prediction of a block, its rows one after the other. By one warp.
template <class View>
__device__ void predict_least_squares(const View& view, int row, int column, int a, int b,
                                      int picture_width, FitMemory& memory, uint8_t* out) {
    fit_weights(view, row, column, a, b, picture_width, memory);
    const int lane = threadIdx.x % 32, height = 1 << a, width = 1 << b;
    // Two rows above, two columns left and one right of the block.
    const int row_length = width + 3;
    int16_t* v = memory.values + 2 * row_length + 2;
    const auto decoded = [&](int i, int j) {
        return int16_t((view.at(row + i, column + j) - kMidSample) * 16);
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
    // Samples on a line that goes down by 1 and left by 2 do not depend on each other.
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
