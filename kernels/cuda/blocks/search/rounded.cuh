// Estimated rate of a residual with rounded levels, see shared/blocks/estimate.h.
#pragma once

#include "cuda/device/warp.cuh"
#include "shared/blocks/estimate.h"

namespace mmp {

// Sums over the coefficients of a transform.
struct RoundedLevels {
    int32_t count, bits, end;
    unsigned long long kept;

    // Adds a coefficient at scan position `place`. A transform has 2^coded_log2 coefficients; the
    // threads of a warp that hold coefficients of one transform call it together.
    __device__ void add(int16_t value, int place, int32_t step, int coded_log2) {
        const uint32_t size = uint32_t(abs(int(value)));
        const uint32_t level = (size * estimate_scale(step) + kEstimateRound) >> 16;
        const uint32_t rest = size - ((level * uint32_t(step) + 1) >> 1);
        uint32_t own_bits = 0;
#define MMP_ADD_BITS(limit, bits) own_bits += level > (limit) ? (bits) : 0;
        MMP_LEVEL_LIMITS(MMP_ADD_BITS)
#undef MMP_ADD_BITS
        const bool some = level > 0;
        const uint32_t own_lanes =
            coded_log2 >= 5 ? kAllLanes : 0xFFFFu << (threadIdx.x & 16);
        const uint32_t levels = __ballot_sync(own_lanes, some) & own_lanes;
        if (!levels) return;
        const uint32_t sum = __reduce_add_sync(own_lanes, own_bits);
        const uint32_t last = __reduce_max_sync(own_lanes, some ? uint32_t(place + 1) : 0u);
        const uint32_t energy =
            __reduce_add_sync(own_lanes, (size * size - rest * rest) >> 2);
        if (threadIdx.x % 32 != __ffs(own_lanes) - 1) return;
        atomicAdd(&count, __popc(levels));
        atomicAdd(&bits, int(sum));
        atomicMax(&end, int(last));
        atomicAdd(&kept, static_cast<unsigned long long>(energy));
    }
    __device__ int32_t rate() const { return estimated_bits(count, bits, end); }
    __device__ int64_t energy() const { return int64_t(kept); }
};

}  // namespace mmp
