// Small reductions and scans within a warp.
#pragma once

#include "../shared/integers.h"

namespace mmp {

constexpr uint32_t kAllLanes = 0xFFFFFFFFu;

__device__ inline uint32_t warp_sum(uint32_t value) { return __reduce_add_sync(kAllLanes, value); }

// Sum of the values of the lanes before this one.
__device__ inline uint32_t warp_sum_before(uint32_t value) {
    const int lane = threadIdx.x % 32;
    uint32_t sum = value;
    for (int step = 1; step < 32; step *= 2) {
        const uint32_t before = __shfl_up_sync(kAllLanes, sum, step);
        if (lane >= step) sum += before;
    }
    return sum - value;
}

}  // namespace mmp
