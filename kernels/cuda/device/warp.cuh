// Warp reductions and prefix sums.
#pragma once

#include "shared/integers.h"

namespace mmp {

constexpr uint32_t kAllLanes = 0xFFFFFFFFu;

__device__ inline uint32_t warp_sum(uint32_t value) { return __reduce_add_sync(kAllLanes, value); }

__device__ inline uint32_t warp_xor(uint32_t value) { return __reduce_xor_sync(kAllLanes, value); }

// Exclusive prefix sum over the lanes of a warp.
__device__ inline uint32_t warp_sum_before(uint32_t value) {
    const int lane = threadIdx.x % 32;
    uint32_t sum = value;
    for (int step = 1; step < 32; step *= 2) {
        const uint32_t before = __shfl_up_sync(kAllLanes, sum, step);
        if (lane >= step) sum += before;
    }
    return sum - value;
}

__device__ inline uint64_t warp_min(uint64_t value) {
    const uint32_t high = static_cast<uint32_t>(value >> 32);
    const uint32_t smallest = __reduce_min_sync(kAllLanes, high);
    const uint32_t low = high == smallest ? static_cast<uint32_t>(value) : kAllLanes;
    return uint64_t{smallest} << 32 | __reduce_min_sync(kAllLanes, low);
}

}  // namespace mmp
