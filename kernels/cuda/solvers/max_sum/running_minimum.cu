// Running minimum of a sequence (prefix scan): the smallest of all sums up to each place, the
// number of its occurrences, and its first and last place.
//
// Three launches compute the minimum of each tile, of all tiles before each tile, and of all sums
// up to each place.
#include "cuda/device/warp.cuh"

namespace mmp {

constexpr int kThreads = 256;
constexpr int kEach = 8;  // adjacent sums per thread
constexpr int kTile = kThreads * kEach;

struct Lowest {
    int64_t value, count, first, last;  // count is 0 if there are no sums
};

__device__ inline Lowest join(const Lowest& a, const Lowest& b) {
    if (a.count == 0 || (b.count && b.value < a.value)) return b;
    if (b.count == 0 || a.value < b.value) return a;
    return {a.value, a.count + b.count, a.first, b.last};
}

__device__ inline Lowest from_before(const Lowest& mine, int step) {
    Lowest other;
    const int64_t* from = reinterpret_cast<const int64_t*>(&mine);
    int64_t* to = reinterpret_cast<int64_t*>(&other);
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = __shfl_up_sync(kAllLanes, from[i], step);
    return other;
}

// Exclusive scan over the block: returns the minimum over all threads before this one; sets `whole`
// to the minimum over the block.
__device__ inline Lowest lowest_before(Lowest mine, Lowest* warps, Lowest& whole) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int step = 1; step < 32; step *= 2) {
        const Lowest other = from_before(mine, step);
        if (lane >= step) mine = join(other, mine);
    }
    __syncthreads();
    if (lane == 31) warps[warp] = mine;
    __syncthreads();
    Lowest before{0, 0, 0, 0};
    for (int other = 0; other < warp; ++other) before = join(before, warps[other]);
    whole = before;
    for (int other = warp; other < kThreads / 32; ++other) whole = join(whole, warps[other]);
    const Lowest above = from_before(mine, 1);
    return lane ? join(before, above) : before;
}

__device__ inline Lowest lowest_of_own(const int64_t* sums, int64_t first, int64_t count) {
    Lowest lowest{0, 0, 0, 0};
    for (int64_t i = first; i < first + kEach && i < count; ++i)
        lowest = join(lowest, {sums[i], 1, i, i});
    return lowest;
}

}  // namespace mmp

using namespace mmp;

// Sets lowest[tile] to the minimum of each tile. Grid: one block per tile.
extern "C" __global__ void __launch_bounds__(kThreads)
    lowest_of_tiles(const int64_t* sums, int64_t count, Lowest* lowest) {
    __shared__ Lowest warps[kThreads / 32];
    const int64_t first = int64_t{blockIdx.x} * kTile + threadIdx.x * kEach;
    Lowest whole;
    lowest_before(lowest_of_own(sums, first, count), warps, whole);
    if (threadIdx.x == 0) lowest[blockIdx.x] = whole;
}

// Replaces the minimum of each tile by the minimum of all tiles before it. Grid: one block.
extern "C" __global__ void __launch_bounds__(kThreads)
    lowest_before_tiles(Lowest* lowest, int64_t tiles) {
    __shared__ Lowest warps[kThreads / 32];
    Lowest before{0, 0, 0, 0};
    for (int64_t first = 0; first < tiles; first += kThreads) {
        const int64_t tile = first + threadIdx.x;
        const Lowest mine = tile < tiles ? lowest[tile] : Lowest{0, 0, 0, 0};
        Lowest whole;
        const Lowest here = lowest_before(mine, warps, whole);
        if (tile < tiles) lowest[tile] = join(before, here);
        before = join(before, whole);
        __syncthreads();
    }
}

// Writes the minimum of all sums up to each place; each of the four outputs may be null. Grid: one
// block per tile.
extern "C" __global__ void __launch_bounds__(kThreads)
    running_lowest(const int64_t* sums, int64_t count, const Lowest* before, int64_t* value,
                   int64_t* number, int64_t* first_at, int64_t* last_at) {
    __shared__ Lowest warps[kThreads / 32];
    const int64_t first = int64_t{blockIdx.x} * kTile + threadIdx.x * kEach;
    Lowest whole;
    Lowest lowest = lowest_before(lowest_of_own(sums, first, count), warps, whole);
    lowest = join(before[blockIdx.x], lowest);
    for (int64_t i = first; i < first + kEach && i < count; ++i) {
        lowest = join(lowest, {sums[i], 1, i, i});
        if (value) value[i] = lowest.value;
        if (number) number[i] = lowest.count;
        if (first_at) first_at[i] = lowest.first;
        if (last_at) last_at[i] = lowest.last;
    }
}
