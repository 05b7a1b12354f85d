// A plane that is filtered, and how much its samples vary around a block of 4x4. -D MMP_SAMPLE
// chooses the type of a sample: uint8_t or uint16_t.
#pragma once

#include "cuda/filters/state.cuh"
#include "shared/blocks/steps.h"
#include "shared/filters/fixed.h"

#ifndef MMP_SAMPLE
#define MMP_SAMPLE uint8_t
#endif

namespace mmp {

using Sample = MMP_SAMPLE;

// The samples of a plane and of its earlier planes. Beyond the border, samples repeat the nearest
// ones inside.
struct PlaneView : FilteredPlane {
    __device__ int most() const { return (1 << depth) - 1; }
    __device__ int inside(int row, int column) const {
        row = larger(0, smaller(row, height - 1));
        column = larger(0, smaller(column, width - 1));
        return row * stride + column;
    }
    __device__ int at(int row, int column) const {
        return __ldg(static_cast<const Sample*>(samples) + inside(row, column));
    }
    __device__ int earlier_at(int which, int row, int column) const {
        return __ldg(static_cast<const Sample*>(earlier[which]) + inside(row, column));
    }
    __device__ void put(int row, int column, int value) const {
        static_cast<Sample*>(out)[int64_t{row} * stride + column] = Sample(value);
    }
};

constexpr int kFilterThreads = 128;

// The block of 4x4 samples of a thread: a column of blocks for each thread, a row of blocks for each
// row of the grid.
struct FilterBlock {
    int row, column;

    __device__ FilterBlock()
        : row(int(blockIdx.y) * kFilterBlock),
          column(int(blockIdx.x * kFilterThreads + threadIdx.x) * kFilterBlock) {}
    __device__ bool is_inside(const PlaneView& plane) const {
        return row < plane.height && column < plane.width;
    }
    // Calls work(row, column) for each sample of the block inside the plane.
    template <class Work>
    __device__ void for_samples(const PlaneView& plane, const Work& work) const {
        for (int i = row; i < smaller(row + kFilterBlock, plane.height); ++i)
            for (int j = column; j < smaller(column + kFilterBlock, plane.width); ++j) work(i, j);
    }
};

// How much a plane varies around a block in a direction, in units of 8-bit samples and 1/16.
__device__ inline int variation_around(const PlaneView& plane, const FilterBlock& block,
                                       int direction) {
    const TapOffset o = kVariationOffsets[direction];
    const int finer = larger(plane.depth - kVariationBits, 0);
    constexpr int kLast = kFilterBlock - 1 + kVariationReach;
    const auto weight = [](int k) {
        return k < 0 ? kFilterBlock + k : k < kFilterBlock ? kFilterBlock : kLast + 1 - k;
    };
    int sum = 0;
    for (int i = -kVariationReach; i <= kLast; ++i) {
        const int row = larger(0, smaller(block.row + i, plane.height - 1));
        int of_row = 0;
        for (int j = -kVariationReach; j <= kLast; ++j) {
            const int column = larger(0, smaller(block.column + j, plane.width - 1));
            const int second = 2 * plane.at(row, column) - plane.at(row + o.row, column + o.column) -
                               plane.at(row - o.row, column - o.column);
            of_row += weight(j) * (magnitude(second) >> finer);
        }
        sum += weight(i) * of_row;
    }
    return sum >> (plane.depth - finer - 4);
}

}  // namespace mmp
