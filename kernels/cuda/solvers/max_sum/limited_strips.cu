// Largest sum, and its place, of intervals of limited length in strips of a matrix.
//
// `corners` is the summed-area table: sums of all rectangles from the upper left corner, in rows +
// 1 rows and columns + 1 columns. So the prefix sums of a strip are the difference of two rows. The
// minimum of each window of prefix sums is found by doubling: windows of 1, 2, 4, ... sums, and
// finally two overlapping windows.
#include "cuda/device/warp.cuh"

namespace mmp {

constexpr int kThreads = 256;

struct Limits {
    int rows, columns, min_rows, max_rows, min_columns, max_columns;
};

// Returns an array whose element i is the minimum of lows[i] to lows[i + window - 1], for i from 0
// to count - window. The result is in `lows` or `spare`; both are overwritten.
__device__ inline int64_t* least_of_windows(int64_t* lows, int64_t* spare, int count, int window) {
    for (int width = 1; width < window;) {
        const int step = min(width, window - width);
        for (int i = threadIdx.x; i + width + step <= count; i += kThreads)
            spare[i] = lows[i] < lows[i + step] ? lows[i] : lows[i + step];
        __syncthreads();
        int64_t* swap = lows;
        lows = spare;
        spare = swap;
        width += step;
    }
    return lows;
}

}  // namespace mmp

using namespace mmp;

// Sets best[strip] to the largest sum of each strip (top, bottom), and places[strip], unless
// `places` is null, to the first interval with this sum, as start << 32 | stop. `scratch` has
// `needed` numbers per block; null: use shared memory. Grid: any number of blocks.
extern "C" __global__ void __launch_bounds__(kThreads)
    best_of_limited(const int64_t* corners, Limits limits, const int2* strips, int count,
                    int64_t* best, uint64_t* places, int64_t* scratch, int needed) {
    extern __shared__ __align__(16) int64_t shared[];
    int64_t* const memory = scratch ? scratch + int64_t{blockIdx.x} * needed : shared;
    __shared__ int64_t warps[kThreads / 32];
    __shared__ unsigned long long first_place;
    const int size = limits.columns + 1, pitch = limits.columns + 1;
    const int most = min(limits.max_columns, limits.columns);
    const int window = most - limits.min_columns + 1;
    // Padding with the largest int64, which never is the minimum, makes every window complete.
    const int padding = window - 1;
    for (int strip = blockIdx.x; strip < count; strip += gridDim.x) {
        const int64_t* above = corners + int64_t{strips[strip].x} * pitch;
        const int64_t* below = corners + int64_t{strips[strip].y} * pitch;
        int64_t* sums = memory;
        int64_t* lows = memory + size;
        int64_t* spare = lows + size + padding;
        __syncthreads();
        for (int i = threadIdx.x; i < size + padding; i += kThreads) {
            const int64_t sum = i < padding ? static_cast<int64_t>(0x7FFFFFFFFFFFFFFFll)
                                            : below[i - padding] - above[i - padding];
            lows[i] = sum;
            if (i >= padding) sums[i - padding] = sum;
        }
        __syncthreads();
        const int64_t* least = least_of_windows(lows, spare, size + padding, window);
        // In the padded array, the window of allowed starts of `stop` begins at stop - min.
        int64_t mine = -static_cast<int64_t>(0x7FFFFFFFFFFFFFFFll) - 1;
        for (int stop = limits.min_columns + threadIdx.x; stop < size; stop += kThreads) {
            const int64_t gain = sums[stop] - least[stop - limits.min_columns];
            mine = gain > mine ? gain : mine;
        }
        for (int step = 16; step > 0; step /= 2) {
            const int64_t other = __shfl_xor_sync(kAllLanes, mine, step);
            mine = other > mine ? other : mine;
        }
        if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
        if (threadIdx.x == 0) first_place = ~0ull;
        __syncthreads();
        for (int warp = 0; warp < kThreads / 32; ++warp) mine = warps[warp] > mine ? warps[warp] : mine;
        for (int stop = limits.min_columns + threadIdx.x; places && stop < size; stop += kThreads) {
            const int64_t low = least[stop - limits.min_columns];
            if (sums[stop] - low != mine) continue;
            int start = max(0, stop - most);
            while (sums[start] != low) ++start;
            atomicMin(&first_place, static_cast<unsigned long long>(start) << 32 | stop);
        }
        __syncthreads();
        if (threadIdx.x > 0) continue;
        best[strip] = mine;
        if (places) places[strip] = first_place;
    }
}
