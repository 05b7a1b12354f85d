// Reduction of costs: the least one and its element.
#include "cuda/device/warp.cuh"

using namespace mmp;

// Computes keys[segment] from costs[segment * size + element]: upper 32 bits: the least cost with
// its sign bit flipped; lower 32 bits: the lowest element that has this cost. Grid: one block of
// whole warps per segment.
extern "C" __global__ void reduce_costs(const int32_t* costs, uint32_t size, uint64_t* keys) {
    __shared__ uint64_t smallest[32];
    const int32_t* mine = costs + uint64_t{blockIdx.x} * size;
    uint64_t key = ~uint64_t{0};
    for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) {
        const uint64_t other = uint64_t{static_cast<uint32_t>(mine[i]) ^ 0x80000000u} << 32 | i;
        key = other < key ? other : key;
    }
    key = warp_min(key);
    const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    if (lane == 0) smallest[threadIdx.x / 32] = key;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    key = warp_min(lane < warps ? smallest[lane] : ~uint64_t{0});
    if (lane == 0) keys[blockIdx.x] = key;
}
