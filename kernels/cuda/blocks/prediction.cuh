// Intra prediction of a block from the samples around it, and its SATD to the source.
#pragma once

#include "cuda/blocks/state.cuh"
#include "cuda/device/warp.cuh"

namespace mmp {

constexpr int kReferences = 2 * kMaxSide;
// The slow modes: template matching and those from earlier planes. They predict whole blocks.
constexpr int kSlowModes = kAllModes - kTemplates;
static_assert(kCrossComponent == kTemplates + 1 && kWideCrossComponent == kTemplates + 2, "");

// References of a block: samples above it, left of it, and the corner.
struct References {
    WideSample above[kReferences], left[kReferences];
    WideSample corner;
};

// Reference line of an angle: samples of its own side from place 1 on, the corner at place 0,
// projected samples of the other side at negative places. samples[kBefore + k] is place k.
struct Line {
    static constexpr int kBefore = kMaxSide, kLength = kBefore + 2 * kMaxSide + 4;
    Sample samples[kLength];
};

// References of a block, plain and smoothed, and their average.
struct PredictMemory {
    References plain, smooth;
    int32_t average;
    int32_t pdpc;  // whether the tool of this name is on
    SampleDepth depth;
};

// A plane whose samples all count as decoded.
struct PlaneView {
    const Sample* samples;
    int width, height;

    __device__ int at(int row, int column) const { return samples[int64_t{row} * width + column]; }
    __device__ bool known(int row, int column) const { return row < height && column < width; }
};

// Gathers the references of a block from `above` decoded samples above it and `left` decoded
// samples left of it; pads by repeating the last one of each side. One warp calls it.
template <class View>
__device__ void gather_references(const View& view, int row, int column, int a, int b, int above,
                                  int left, bool pdpc, SampleDepth depth, PredictMemory& memory) {
    const int lane = threadIdx.x % 32, length = (1 << a) + (1 << b);
    const int first = above  ? view.at(row - 1, column)
                      : left ? view.at(row, column - 1)
                             : depth.middle();
    References& plain = memory.plain;
    int sum = 0;
    for (int i = lane; i < length; i += 32) {
        const int over = above ? view.at(row - 1, column + min(i, above - 1)) : first;
        const int beside = left ? view.at(row + min(i, left - 1), column - 1) : first;
        plain.above[i] = WideSample(over);
        plain.left[i] = WideSample(beside);
        sum += (i < 1 << b ? over : 0) + (i < 1 << a ? beside : 0);
    }
    sum = int(warp_sum(uint32_t(sum)));
    if (lane == 0) {
        plain.corner = WideSample(above && left ? view.at(row - 1, column - 1) : first);
        memory.average = (sum + length / 2) / length;
        memory.pdpc = pdpc;
        memory.depth = depth;
    }
    __syncwarp();
    if (length < kSmoothedFrom) return;
    References& smooth = memory.smooth;
    for (int i = lane; i < length; i += 32) {
        const int after = min(i + 1, length - 1);
        smooth.above[i] = WideSample(
            smoothed(i ? plain.above[i - 1] : plain.corner, plain.above[i], plain.above[after]));
        smooth.left[i] = WideSample(
            smoothed(i ? plain.left[i - 1] : plain.corner, plain.left[i], plain.left[after]));
    }
    if (lane == 0)
        smooth.corner = WideSample(smoothed(plain.above[0], plain.corner, plain.left[0]));
}

// Sample at index k (place k - Line::kBefore) of an angle's line.
__device__ inline Sample line_sample(const PredictMemory& memory, int angle, int a, int b, int k) {
    const int slope = angle_slope(angle), length = (1 << a) + (1 << b);
    const References& r = slope == 0 || length < kSmoothedFrom ? memory.plain : memory.smooth;
    const bool turned = angle < kFirstVertical;
    k -= Line::kBefore;
    if (k > 0) return Sample((turned ? r.left : r.above)[min(k, length) - 1]);
    if (k == 0) return Sample(r.corner);
    return Sample((turned ? r.above : r.left)[min(side_place(-k, -slope), length) - 1]);
}

// First index, and exclusive end, of the line samples that an angle uses.
__device__ inline int line_start(int angle, int a, int b) {
    const int slope = angle_slope(angle);
    const int down = 1 << (angle < kFirstVertical ? b : a);
    return Line::kBefore + min(0, (down * slope) >> 5);
}
__device__ inline int line_end(int a, int b) { return Line::kBefore + (1 << a) + (1 << b) + 4; }

// A 4x4 piece of a prediction, row by row; column by column (`turned`) for angles before
// kFirstVertical.
struct Piece {
    int sample[kUnit * kUnit];
    bool turned;

    __device__ int place(int i, int width) const {
        const int y = i / kUnit, x = i % kUnit;
        return turned ? x * width + y : y * width + x;
    }
};

// Position-dependent prediction combination (PDPC): returns sample (i, j) of a block, where the mode
// predicts `value`.
__device__ inline int blended(int mode, const PredictMemory& memory, int a, int b, int i, int j,
                              int value) {
    const int height = 1 << a, width = 1 << b, reach = blend_reach(a, b);
    const References& r = height + width < kSmoothedFrom ? memory.plain : memory.smooth;
    if (mode == kAverage || mode == kPlanar) {
        const int down = i < reach ? blend_weight(i, a, b) : 0;
        const int across = j < reach ? blend_weight(j, a, b) : 0;
        return (across * r.left[i] + down * r.above[j] + (64 - down - across) * value + 32) >> 6;
    }
    const int angle = angle_of(mode);
    if (angle < 0) return value;
    const int slope = angle_slope(angle);
    const bool from_above = angle >= kFirstVertical;
    const int along = from_above ? j : i, other = from_above ? i : j;
    if (slope < 0 || along >= reach) return value;
    const int weight = blend_weight(along, a, b);
    if (slope == 0) {
        const int side = from_above ? memory.plain.left[i] : memory.plain.above[j];
        return memory.depth.limited(value + ((weight * (side - memory.plain.corner) + 32) >> 6));
    }
    const int moved = (inverse_slope(slope) * (along + 1) + 256) >> 9;
    if (other >= min(from_above ? height : width, height + width - moved)) return value;
    return blend(weight, (from_above ? r.left : r.above)[other + moved], value);
}

// Predicts the piece at (row, column) of a block by a mode before kTemplates, without PDPC. Angles
// read their line, other modes the references.
__device__ inline void predict_plainly(int mode, const PredictMemory& memory, const Line& line, int a,
                                     int b, int row, int column, Piece& piece) {
    piece.turned = false;
    if (mode <= kAverage) {
        const int value = mode == kConstant ? memory.depth.middle() : memory.average;
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
        const Sample* from = line.samples + Line::kBefore + (position >> 5) + across;
        const Taps taps = taps_of(position & 31);
        int near[kUnit + 3];
        for (int i = 0; i < kUnit + 3; ++i) near[i] = from[i];
        for (int x = 0; x < kUnit; ++x) {
            int sum = 32;
            for (int k = 0; k < 4; ++k) sum += taps.weight[k] * near[x + k];
            piece.sample[y * kUnit + x] = memory.depth.limited(sum >> 6);
        }
    }
}

// Predicts the piece at (row, column) of a block by a mode before kTemplates.
__device__ inline void predict_piece(int mode, const PredictMemory& memory, const Line& line, int a,
                                     int b, int row, int column, Piece& piece) {
    predict_plainly(mode, memory, line, a, b, row, column, piece);
    if (!memory.pdpc) return;
    for (int k = 0; k < kUnit * kUnit; ++k) {
        const int place = piece.place(k, kUnit);
        piece.sample[k] = blended(mode, memory, a, b, row + place / kUnit, column + place % kUnit,
                                  piece.sample[k]);
    }
}

// Sum of absolute Hadamard coefficients of a piece; callers halve it.
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

// Writes the 4x4 piece at (row, column) of a block to a prediction, row by row. `slow` holds the
// predictions of the block by the slow modes, kMaxBlockArea apart.
__device__ inline void write_piece(int mode, const PredictMemory& memory, const Line& line,
                                   const Sample* slow, int a, int b, int row, int column,
                                   Sample* prediction) {
    const int first = (row << b) + column;
    if (mode >= kTemplates) {
        for (int k = 0; k < kUnit * kUnit; ++k) {
            const int at = first + (k / kUnit << b) + k % kUnit;
            prediction[at] = slow[(mode - kTemplates) * kMaxBlockArea + at];
        }
        return;
    }
    Piece piece;
    predict_piece(mode, memory, line, a, b, row, column, piece);
    for (int k = 0; k < kUnit * kUnit; ++k)
        prediction[first + piece.place(k, 1 << b)] = Sample(piece.sample[k]);
}

// SATD of the 4x4 piece at (row, column) of a block, not yet halved. source(row, column) returns a
// source sample of the block. `blends`: with PDPC, where this tool is on.
template <class Source>
__device__ int piece_difference(int mode, const PredictMemory& memory, const Line& line,
                                const Sample* slow, int a, int b, int row, int column,
                                const Source& source, bool blends = true) {
    int difference[kUnit * kUnit];
    if (mode >= kTemplates) {
        const Sample* whole = slow + (mode - kTemplates) * kMaxBlockArea;
        for (int k = 0; k < kUnit * kUnit; ++k) {
            const int y = row + k / kUnit, x = column + k % kUnit;
            difference[k] = source(y, x) - whole[(y << b) + x];
        }
    } else {
        Piece piece;
        if (blends)
            predict_piece(mode, memory, line, a, b, row, column, piece);
        else
            predict_plainly(mode, memory, line, a, b, row, column, piece);
        for (int k = 0; k < kUnit * kUnit; ++k) {
            const int place = piece.place(k, kUnit);
            difference[k] = source(row + place / kUnit, column + place % kUnit) - piece.sample[k];
        }
    }
    return hadamard_sum(difference);
}

// Adds the values of a warp's threads to sums[key]. `uniform`: all threads have the same key, so
// one atomic addition is enough.
__device__ inline void add_by_key(int32_t* sums, int key, int value, bool uniform) {
    if (uniform) {
        value = int(warp_sum(uint32_t(value)));
        if (threadIdx.x % 32 == 0) atomicAdd(sums + key, value);
    } else {
        atomicAdd(sums + key, value);
    }
}

}  // namespace mmp
