// Costs of what blocks code, from the models at one moment.
#pragma once

#include "cuda/blocks/state.cuh"

namespace mmp {

struct BlockCosts {
    BitCosts bit;
    alignas(16) int32_t level[kAreas][kPlaces][kSums][4];
    int64_t remainder[2][64];
    int32_t last[kSizes][kLastGroups];  // that the last place is in this group or beyond
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
    // All threads of the block take part.
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

// The levels of one block while one thread works on them.
struct LevelScan {
    const uint32_t* scan;
    uint8_t* magnitudes;  // at most 3 each; all zero before
    int a, b, area, stride;

    __device__ LevelScan(const BlockTables& tables, int a, int b, uint8_t* magnitudes)
        : scan(tables.scan[shape_number(a, b)]),
          magnitudes(magnitudes),
          a(a),
          b(b),
          area(area_class(a, b)),
          stride(min(1 << b, kCodedSide) + 2) {}

    __device__ int count() const { return min(1 << a, kCodedSide) * (stride - 2); }
    __device__ ScanPlace at(int k) const { return ScanPlace(__ldg(scan + k)); }
    // Sum of the magnitudes of the five neighbours of higher frequency.
    __device__ int sum_around(const ScanPlace& place) const {
        const uint8_t* v = magnitudes + place.margin;
        return v[1] + v[2] + v[stride] + v[2 * stride] + v[stride + 1];
    }
    __device__ void set(const ScanPlace& place, int size) {
        magnitudes[place.margin] = uint8_t(min(size, 3));
    }
};

struct ChosenLevels {
    int last;      // number of the last one that is not zero, -1 where all are
    int64_t cost;  // without their type; of no meaning where all are zero
};

// Cost of a level with its sign.
__device__ inline int64_t level_cost(const int32_t* costs_of, int size, int area,
                                     const BlockCosts& costs) {
    return costs_of[min(size, 3)] + (size > 2 ? costs.of_remainder(area, size - 3) : 0);
}

// Chooses levels of small cost, in scan order from number `top` down; those beyond it stay.
__device__ inline ChosenLevels choose_levels(LevelScan& scan, int top, const int16_t* coefficients,
                                             int32_t step, const BlockCosts& costs,
                                             int16_t* levels) {
    const uint64_t inverse = inverse_of(step);
    const int area = scan.area;
    // What ending here saves or loses against ending at the top: sums of levels' costs less those of
    // zeros that are not coded.
    int64_t beyond = 0, best = kNever, rate = 0;
    int last = -1, highest = -1;
    ScanPlace place = scan.at(max(top, 0));
    for (int k = top; k >= 0; --k) {
        const ScanPlace after = scan.at(max(k - 1, 0));
        const int value = coefficients[k], size = abs(value);
        const int sum = min(scan.sum_around(place), kSums - 1);
        const int32_t* zero_cost = costs.level[area][place.frequency][sum];
        const int32_t dropped = coefficient_error<int32_t>(size);
        int32_t cost = dropped + zero_cost[0];
        const int chosen = choose_level(size, step, inverse, area, zero_cost, costs, cost);
        levels[k] = int16_t(value < 0 ? -chosen : chosen);
        if (chosen) {
            scan.set(place, chosen);
            if (highest < 0) highest = k;
            // That the last one is not zero takes no bit. Of equal ones the first counts.
            const int64_t total = costs.of_last(scan.a, scan.b, k) -
                                  costs.bit[zero_model(area, place.frequency, 0)][1] + beyond;
            if (total <= best) best = total, last = k;
        }
        if (highest >= 0) rate += level_cost(zero_cost, chosen, area, costs);
        beyond += dropped - cost;
        place = after;
    }
    if (last < 0) return {-1, 0};
    if (last < highest) {
        // Without what is beyond, the contexts are others.
        for (int k = highest; k > last; --k) scan.set(scan.at(k), levels[k] = 0);
        rate = 0;
        for (int k = last; k >= 0; --k) {
            const ScanPlace at = scan.at(k);
            const int sum = min(scan.sum_around(at), kSums - 1);
            rate += level_cost(costs.level[area][at.frequency][sum], abs(int(levels[k])), area, costs);
        }
    }
    const int zero = zero_model(area, scan.at(last).frequency, 0);
    return {last, costs.of_last(scan.a, scan.b, last) - costs.bit[zero][1] + rate};
}

}  // namespace mmp
