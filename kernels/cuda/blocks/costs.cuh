// Lagrangian costs of the symbols of a block under the current models, in 1/16 squared error of
// samples with 8 + `finer` bits.
#pragma once

#include "cuda/blocks/state.cuh"
#include "shared/blocks/dependent.h"
#include "shared/blocks/syntax.h"

namespace mmp {

// Places of a level's costs: with fine contexts kFrequencies * direction + class of the frequency,
// else the coarse class of the frequency.
constexpr int kMostPlaces = kDirections * kFrequencies;
constexpr int kRemainderContexts = kRemainderPlaces * kSumClasses;

struct BlockCosts {
    BitCosts* bits;  // in global memory
    // Costs of magnitudes 0, 1, 2, and 3 or more, sign included, by class of the sum of magnitudes.
    alignas(16) int32_t level[kQuantisers][kAreas][kMostPlaces][kSumClasses][4];
    // Cost of the bit that says that a level is not 0, with quantiser 0 and a sum of 0.
    int32_t nonzero[kAreas][kMostPlaces];
    int64_t remainder[kRemainderContexts][kMostRemainder + 1];  // by context and group
    int32_t last[kSizes][kLastGroups];  // the last level is in this group or higher
    int32_t plain;
    int32_t fine;   // whether fine contexts are on
    int32_t finer;  // bits beyond 8 that costs keep

    __device__ const BitCosts& bit() const { return *bits; }
    __device__ int place_of(const ScanPlace& at, int columns_log2, int family) const {
        if (!fine) return at.frequency;
        const int i = at.place >> columns_log2, j = at.place & ((1 << columns_log2) - 1);
        return direction_of(family, i, j) * kFrequencies + fine_frequency(i, j);
    }
    // Context of the remainder of a magnitude, from the class of the sum of magnitudes around it.
    __device__ int remainder_context(int area, int place, int sum) const {
        if (!fine) return area >= 2;
        return (fine_remainder_models(place % kFrequencies, sum) - kFineRemainderModels) /
               kRemainders;
    }
    __device__ int64_t of_remainder(int context, int value) const {
        return remainder[context][floor_log2(uint32_t(value + 1))];
    }
    __device__ int32_t of_last(int a, int b, int number) const {
        const int group = floor_log2(number + 1);
        const BitCosts& bit = *bits;
        int32_t cost = last[size_of(a, b)][group];
        if (group < last_groups(a, b)) cost += bit[last_model(a, b, group)][0];
        if (group > 0)
            cost += bit[last_bit_model(group)][((number + 1) >> (group - 1)) & 1] +
                    (group - 1) * plain;
        return cost;
    }
    // All threads of the worker must call it.
    __device__ void refresh(const BlockModels& models, const BlockPicture& picture) {
        const int64_t lambda = picture.lambda_fixed;
        const int32_t* rates = picture.rates;
        const auto of_bit = [&](int one, int value) {
            const int seen = value ? one : int(kBitTotal) - one;
            return int32_t(lagrangian(__ldg(rates + kBitTotal) - __ldg(rates + seen), lambda));
        };
        if (threadIdx.x == 0) {
            plain = int32_t(lagrangian(1 << kRateFractionBits, lambda));
            fine = picture.tools.fine_contexts;
            finer = picture.depth.kept();
        }
        for (int m = threadIdx.x; m < kHeldBitModels; m += kBlockThreads)
            for (int value = 0; value < 2; ++value)
                (*bits)[m][value] = of_bit(models.bits[m].one, value);
        __syncthreads();
        const BitCosts& bit = *bits;
        for (int i = threadIdx.x; i < kQuantisers * kAreas * kMostPlaces * kSumClasses;
             i += kBlockThreads) {
            const int sum = i % kSumClasses, place = i / kSumClasses % kMostPlaces;
            const int area = i / (kSumClasses * kMostPlaces) % kAreas;
            const int quantiser = i / (kSumClasses * kMostPlaces * kAreas);
            if (!fine && place >= kPlaces) continue;
            const LevelModels of =
                fine ? LevelModels::fine(area, place / kFrequencies, place % kFrequencies, sum,
                                         quantiser)
                     : LevelModels::coarse(area, place, sum, quantiser);
            int32_t zero[2] = {bit[of.zero][0], bit[of.zero][1]};
            if (fine) {
                const int one = mean_probability(models.bits[of.zero], models.bits[of.fine_zero]);
                for (int value = 0; value < 2; ++value) zero[value] = of_bit(one, value);
            }
            if (!quantiser && !sum) nonzero[area][place] = zero[1];
            level_costs(zero, bit[of.one], bit[of.two], plain, level[quantiser][area][place][sum]);
        }
        const int contexts = fine ? kRemainderContexts : 2;
        for (int i = threadIdx.x; i < contexts * (kMostRemainder + 1); i += kBlockThreads) {
            const int context = i / (kMostRemainder + 1), group = i % (kMostRemainder + 1);
            const int first = (fine ? kFineRemainderModels : kRemainderModels) + context * kRemainders;
            remainder[context][group] = remainder_cost_from(bit, plain, first, (1 << group) - 1);
        }
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
