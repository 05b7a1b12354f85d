// Scan and rate-distortion optimised quantisation of a block, by one thread or by a group of
// threads per block.
#pragma once

#include "cuda/blocks/costs.cuh"

namespace mmp {

// Levels of a block in scan order, and the clipped magnitudes that select their contexts.
struct LevelScan {
    const uint32_t* scan;
    const uint16_t* lines;
    uint8_t* magnitudes;  // clipped to 3; all 0 before the scan
    int a, b, family, area, columns_log2, stride;

    __device__ LevelScan(const BlockTables& tables, int a, int b, int family, uint8_t* magnitudes)
        : scan(tables.scan[shape_number(a, b)]),
          lines(tables.lines[shape_number(a, b)]),
          magnitudes(magnitudes),
          a(a),
          b(b),
          family(family),
          area(area_class(a, b)),
          columns_log2(min(b, kCodedSideLog2)),
          stride((1 << columns_log2) + 2) {}

    __device__ int count() const { return min(1 << a, kCodedSide) << columns_log2; }
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

// The costs of a level whose contexts are known.
struct LevelCosts {
    const int32_t* of;  // of magnitudes 0, 1, 2, and 3 or more
    int context;        // of the remainder
    int place;

    __device__ LevelCosts(const BlockCosts& costs, const LevelScan& scan, const ScanPlace& at)
        : place(costs.place_of(at, scan.columns_log2, scan.family)) {
        const int sum = sum_class(scan.sum_around(at));
        of = costs.level[0][scan.area][place][sum];
        context = costs.remainder_context(scan.area, place, sum);
    }
};

struct ChosenLevels {
    int last;      // scan position of the last non-zero level; -1 if all are 0
    int64_t cost;  // transform type excluded; undefined if all are 0
};

// Cost of a level of magnitude `size`, sign included.
__device__ inline int64_t level_cost(const LevelCosts& own, int size, const BlockCosts& costs) {
    return own.of[min(size, 3)] + (size > 2 ? costs.of_remainder(own.context, size - 3) : 0);
}

// Cost of the scan position of the last level, which is known to be not 0.
__device__ inline int64_t end_cost(const LevelScan& scan, int last, const BlockCosts& costs) {
    const int place = costs.place_of(scan.at(last), scan.columns_log2, scan.family);
    return costs.of_last(scan.a, scan.b, last) - costs.nonzero[scan.area][place];
}

// Chooses levels of low RD cost from scan position `top` down to 0. Levels above `top` are not
// changed.
__device__ inline ChosenLevels choose_levels(LevelScan& scan, int top, const int16_t* coefficients,
                                             int32_t step, const BlockCosts& costs,
                                             int16_t* levels) {
    const uint64_t inverse = inverse_of(step);
    const int area = scan.area, finer = kDeep ? costs.finer : 0;
    // `beyond` is the cost of position k as the last one minus the cost of `top` as the last one:
    // the levels after k become 0 and are not coded.
    int64_t beyond = 0, best = kNever, rate = 0;
    int last = -1, highest = -1;
    ScanPlace place = scan.at(max(top, 0));
    for (int k = top; k >= 0; --k) {
        const ScanPlace after = scan.at(max(k - 1, 0));
        const int value = coefficients[k], size = abs(value);
        const LevelCosts own(costs, scan, place);
        const auto dropped = coefficient_error<LevelCost>(size, finer);
        LevelCost cost = dropped + own.of[0];
        const int chosen =
            choose_level(size, step, inverse, own.context, own.of, costs, cost, finer);
        levels[k] = int16_t(value < 0 ? -chosen : chosen);
        if (chosen) {
            scan.set(place, chosen);
            if (highest < 0) highest = k;
            // The last level is known to be non-zero, so the bit that says so is not coded. Among
            // equal costs the first position wins.
            const int64_t total =
                costs.of_last(scan.a, scan.b, k) - costs.nonzero[area][own.place] + beyond;
            if (total <= best) best = total, last = k;
        }
        if (highest >= 0) rate += level_cost(own, chosen, costs);
        beyond += dropped - cost;
        place = after;
    }
    if (last < 0) return {-1, 0};
    if (last < highest) {
        // The contexts change, because the levels after `last` become 0.
        for (int k = highest; k > last; --k) scan.set(scan.at(k), levels[k] = 0);
        rate = 0;
        for (int k = last; k >= 0; --k) {
            rate += level_cost(LevelCosts(costs, scan, scan.at(k)), abs(int(levels[k])), costs);
        }
    }
    return {last, end_cost(scan, last, costs) + rate};
}

// choose_levels() by groups of `lanes` threads, one group per block; `lanes` is a power of two and
// at least the shorter side of the coded coefficients. All groups of a warp must process blocks of
// one shape. A group processes one line (see kMostLines) at a time.
__device__ inline ChosenLevels choose_levels_together(LevelScan& scan, int lanes, int top,
                                                      const int16_t* coefficients, int32_t step,
                                                      const BlockCosts& costs, int16_t* levels) {
    const uint64_t inverse = inverse_of(step);
    const int area = scan.area, lane = threadIdx.x % lanes, finer = kDeep ? costs.finer : 0;
    int64_t beyond = 0, best = kNever;
    int last = -1, highest = -1;
    const int first = int(__reduce_max_sync(kAllLanes, uint32_t(top + 1)));
    int end = first ? __ldg(scan.lines + scan.at(first - 1).line + 1) : 0;
    for (int line = first ? scan.at(first - 1).line : -1; line >= 0; --line) {
        const int start = __ldg(scan.lines + line), k = start + lane;
        LevelCost gain = 0;
        int32_t zero_cost_of_one = 0;
        int chosen = 0;
        if (k < end && k <= top) {
            const ScanPlace place = scan.at(k);
            const int value = coefficients[k], size = abs(value);
            const LevelCosts own(costs, scan, place);
            const auto dropped = coefficient_error<LevelCost>(size, finer);
            LevelCost cost = dropped + own.of[0];
            chosen = choose_level(size, step, inverse, own.context, own.of, costs, cost, finer);
            levels[k] = int16_t(value < 0 ? -chosen : chosen);
            if (chosen) {
                scan.set(place, chosen);
                zero_cost_of_one = costs.nonzero[area][own.place];
            }
            gain = dropped - cost;
        }
        int64_t from_here = gain;  // suffix sum of the gains within the line
        for (int step = 1; step < lanes; step *= 2) {
            const int64_t after = __shfl_down_sync(kAllLanes, from_here, step, lanes);
            if (lane + step < lanes) from_here += after;
        }
        if (chosen) {
            const int64_t total = costs.of_last(scan.a, scan.b, k) - zero_cost_of_one + beyond +
                                  from_here - gain;
            if (total <= best) best = total, last = k;
            highest = max(highest, k);
        }
        beyond += __shfl_sync(kAllLanes, from_here, 0, lanes);
        end = start;
        __syncwarp();
    }
    for (int step = 1; step < lanes; step *= 2) {
        const int64_t other = __shfl_xor_sync(kAllLanes, best, step);
        const int its_last = __shfl_xor_sync(kAllLanes, last, step);
        if (other < best || (other == best && its_last < last)) best = other, last = its_last;
        highest = max(highest, __shfl_xor_sync(kAllLanes, highest, step));
    }
    for (int k = last + 1 + lane; k <= highest; k += lanes) scan.set(scan.at(k), levels[k] = 0);
    __syncwarp();
    int64_t rate = 0;
    for (int k = lane; k <= last; k += lanes) {
        rate += level_cost(LevelCosts(costs, scan, scan.at(k)), abs(int(levels[k])), costs);
    }
    __syncwarp();
    for (int step = 1; step < lanes; step *= 2) rate += __shfl_xor_sync(kAllLanes, rate, step);
    if (last < 0) return {-1, 0};
    return {last, end_cost(scan, last, costs) + rate};
}

}  // namespace mmp
