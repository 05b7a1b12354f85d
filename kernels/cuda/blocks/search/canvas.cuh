// Decoded samples and units around the block that a worker searches. Coordinates are relative to
// the first sample of the fragment; the kReach rows above and columns left of it are negative.
#pragma once

#include "cuda/blocks/state.cuh"
#include "cuda/device/warp.cuh"

namespace mmp {

constexpr int kCanvasRows = kReach + kMaxSide, kCanvasColumns = kReach + 2 * kMaxSide;

struct Canvas {
    Sample samples[kCanvasRows][kCanvasColumns];
    Unit units[kCanvasRows / kUnit][kCanvasColumns / kUnit];
    int16_t (*levels)[kMaxSide];  // in global memory
    int row, column;    // of the fragment's first sample in the picture
    int rows, columns;  // from that sample to the end of the picture

    __device__ bool is_outside(const BlockPlace& block) const {
        return mmp::is_outside(block, rows, columns);
    }
    __device__ int forced_flag(const BlockPlace& block) const {
        return mmp::forced_flag(block, rows, columns);
    }
    __device__ bool holds(int row, int column) const {
        return row < min(rows, kMaxSide) && column < min(columns, 2 * kMaxSide);
    }
    __device__ Sample* sample(int row, int column) {
        return &samples[row + kReach][column + kReach];
    }
    __device__ Unit& unit(int row, int column) {
        return units[(row + kReach) / kUnit][(column + kReach) / kUnit];
    }
    __device__ int at(int row, int column) const {
        return samples[row + kReach][column + kReach];
    }
    __device__ bool known(int row, int column) const {
        return holds(row, column) && units[(row + kReach) / kUnit][(column + kReach) / kUnit].known();
    }
};

__device__ inline Unit unit_above(Canvas& canvas, const BlockPlace& block) {
    return canvas.unit(block.row - 1, block.column);
}
__device__ inline Unit unit_left(Canvas& canvas, const BlockPlace& block) {
    return canvas.unit(block.row, block.column - 1);
}
__device__ inline LikelyModes likely_modes(Canvas& canvas, const BlockPlace& block) {
    return likely_modes(unit_above(canvas, block), unit_left(canvas, block),
                        canvas.unit(block.row - 1, block.column + block.width() - 1),
                        canvas.unit(block.row + block.height() - 1, block.column - 1));
}

// Sets the units of a block; Unit{} marks the block as not decoded.
__device__ inline void mark(Canvas& canvas, const BlockPlace& block, const Unit& with) {
    const int across = block.width() / kUnit;
    for (int i = threadIdx.x; i < block.height() / kUnit * across; i += kBlockThreads) {
        const int row = block.row + i / across * kUnit, column = block.column + i % across * kUnit;
        if (canvas.holds(row, column)) canvas.unit(row, column) = with;
    }
}

// The Unit of all units that a leaf covers.
__device__ inline Unit leaf_unit(const BlockPlace& block, uint16_t node) {
    Unit unit;
    unit.a = uint8_t(block.a), unit.b = uint8_t(block.b);
    unit.mode = uint8_t(mode_of(node)), unit.kind = uint8_t(kind_of(node));
    return unit;
}

// Returns the number of consecutive decoded units from (row, column) on, in steps of `down` and
// `across` samples; at most `units` and at most 32. One warp calls it.
__device__ inline int known_units(const Canvas& canvas, int row, int column, int down, int across,
                                  int units) {
    const int lane = threadIdx.x % 32;
    const bool known = lane < units && canvas.known(row + lane * down, column + lane * across);
    const uint32_t unknown = ~__ballot_sync(kAllLanes, known);
    return unknown ? __ffs(unknown) - 1 : 32;
}

}  // namespace mmp
