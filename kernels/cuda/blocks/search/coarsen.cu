// Quantises the source coarsely in 16x16 blocks. It stands for the decoded neighbours in the
// survey, which runs before any sample is decoded.
#include "cuda/blocks/transform.cuh"
#include "shared/blocks/dependent.h"

using namespace mmp;

namespace {
constexpr int kCoarseLog2 = 4, kCoarse = 1 << kCoarseLog2;
}

// Writes the coarsely quantised source. Grid: (columns of 16x16 blocks, rows of blocks, pictures),
// one thread per sample of a block. Blocks that cross the border of the picture are copied.
extern "C" __global__ void __launch_bounds__(kCoarse* kCoarse)
    coarsen_source(const BlockPicture* pictures) {
    __shared__ int16_t coefficients[kCoarse * kCoarse], half[kCoarse * kCoarse];
    const BlockPicture& picture = pictures[blockIdx.z];
    const int i = threadIdx.x / kCoarse, j = threadIdx.x % kCoarse;
    const int row = blockIdx.y * kCoarse, column = blockIdx.x * kCoarse;
    const int64_t place = int64_t{row + i} * picture.width + column + j;
    const bool inside = row + i < picture.height && column + j < picture.width;
    const SampleDepth depth = picture.depth;
    const auto write = [&](Sample sample) {
        picture.coarse[place] = sample;
        if (kDeep) picture.coarse_bytes[place] = uint8_t(sample >> depth.extra());
    };
    if (row + kCoarse > picture.height || column + kCoarse > picture.width) {
        if (inside) write(picture.source[place]);
        return;
    }
    const BlockTables& tables = *picture.tables;
    coefficients[threadIdx.x] =
        int16_t((picture.source[place] - depth.middle()) >> depth.unseen());
    __syncthreads();
    const auto residual = [&](int y, int x) { return int(coefficients[y * kCoarse + x]); };
    half[threadIdx.x] =
        column_frequency(tables, residual, kCoarseLog2, kCosine, i, j, depth.seen());
    __syncthreads();
    const int value = coefficient_of(tables, half, kCoarseLog2, kCosine, i, j);
    const int32_t step = independent_step(step_in(picture, fragment_at(picture, row, column)),
                                          picture.tools.dependent);
    const int level = min((40 * abs(value) + 7 * step) / (20 * step), kMaxLevel);
    coefficients[threadIdx.x] =
        int16_t(dequantised(int16_t(value < 0 ? -level : level), step));
    __syncthreads();
    half[threadIdx.x] =
        column_sample(tables, coefficients, kCoarseLog2, kCoarseLog2, kCosine, i, j);
    __syncthreads();
    write(depth.limited(depth.middle() + residual_sample(tables, half, kCoarseLog2, kCoarseLog2,
                                                         kCosine, i, j, depth)));
}
