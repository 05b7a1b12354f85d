// Lagrangian costs of the symbols of a block under the current models, in 1/16 squared error.
#pragma once

#include "cuda/blocks/state.cuh"

namespace mmp {

struct BlockCosts {
    BitCosts bit;
    alignas(16) int32_t level[kAreas][kPlaces][kSums][4];
    int64_t remainder[2][64];
    int32_t last[kSizes][kLastGroups];  // the last level is in this group or higher
    int32_t plain;

    __device__ int64_t of_remainder(int area, int value) const {
        return value < 64 ? remainder[area >= 2][value] : remainder_cost(bit, plain, area, value);
    }
    __device__ int32_t of_last(int a, int b, int number) const {
        const int group = floor_log2(number + 1);
        int32_t cost = last[size_of(a, b)][group];
        if (group < last_groups(a, b)) cost += bit[last_model(a, b, group)][0];
        if (group > 0)
            cost += bit[last_bit_model(group)][((number + 1) >> (group - 1)) & 1] +
                    (group - 1) * plain;
        return cost;
    }
    // All threads of the worker must call it.
    __device__ void refresh(const BlockModels& models, const int32_t* rates, int64_t lambda_fixed) {
        if (threadIdx.x == 0)
            plain = int32_t(lagrangian(1 << kRateFractionBits, lambda_fixed));
        for (int m = threadIdx.x; m < kBitModels; m += kBlockThreads) {
            const int one = models.bits[m].one, all = __ldg(rates + kBitTotal);
            bit[m][0] = int32_t(lagrangian(all - __ldg(rates + kBitTotal - one), lambda_fixed));
            bit[m][1] = int32_t(lagrangian(all - __ldg(rates + one), lambda_fixed));
        }
        __syncthreads();
        for (int i = threadIdx.x; i < kAreas * kPlaces * kSums; i += kBlockThreads) {
            const int area = i / (kPlaces * kSums), place = i / kSums % kPlaces, sum = i % kSums;
            level_costs(bit, plain, area, place, sum, level[area][place][sum]);
        }
        for (int i = threadIdx.x; i < 128; i += kBlockThreads)
            remainder[i / 64][i % 64] = remainder_cost(bit, plain, i / 64 * 2, i % 64);
        for (int i = threadIdx.x; i < kSizes * kLastGroups; i += kBlockThreads) {
            const int size = i / kLastGroups;
            int32_t cost = 0;
            for (int k = 0; k < i % kLastGroups; ++k)
                cost += bit[kLastModels + size * kLastGroups + k][1];
            last[size][i % kLastGroups] = cost;
        }
        __syncthreads();
    }
};

}  // namespace mmp
