// Rank filters of 8-bit samples by sliding histograms, in constant time per pixel for any window
// size.
//
// Compiled for the samples of a picture or, with -DMMP_ORDERED=1, for regions whose sorted samples
// are replaced by one of 256 bins; the results are then bins and ranks within bins. A block moves
// down a strip of columns. It keeps a histogram of the rows inside the window for each column and
// for each group of 16 columns. A warp moves along a part of the row and keeps its window's
// histogram in registers, 8 bins per lane; for each pixel it adds one column and removes one.
// Source: S. Perreault and P. Hebert, "Median filtering in constant time", 2007; groups and warps
// are not in the source.
#include "cuda/solvers/rank_filter/rank.cuh"
#include "cuda/device/warp.cuh"

#ifndef MMP_ORDERED
#define MMP_ORDERED 0
#endif

namespace mmp {

constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;
constexpr int kBins = 256;
constexpr int kGroup = 16;

// Bins 8 * lane to 8 * lane + 7, as two packed 16-bit counts per word. Of every four bins, the
// first and third share one word, the second and fourth the next.
struct Histogram {
    uint32_t pairs[4];

    __device__ void add_column(uint2 bins) {
        pairs[0] += bins.x & 0x00FF00FF;
        pairs[1] += bins.x >> 8 & 0x00FF00FF;
        pairs[2] += bins.y & 0x00FF00FF;
        pairs[3] += bins.y >> 8 & 0x00FF00FF;
    }
    __device__ void take_column(uint2 bins) {
        pairs[0] -= bins.x & 0x00FF00FF;
        pairs[1] -= bins.x >> 8 & 0x00FF00FF;
        pairs[2] -= bins.y & 0x00FF00FF;
        pairs[3] -= bins.y >> 8 & 0x00FF00FF;
    }
    __device__ void add_group(uint4 bins) {
        pairs[0] += bins.x;
        pairs[1] += bins.y;
        pairs[2] += bins.z;
        pairs[3] += bins.w;
    }
};

// A bin, and the rank within the bin.
struct Found {
    int bin, place;
};

// Finds the bin that contains a rank; -1 if the histogram is empty. The rank is ranks[n] for n
// values, or `rank` if `ranks` is null. All lanes return the result.
__device__ inline Found find_rank(const Histogram& histogram, int rank, const int* ranks) {
    const int lane = threadIdx.x % 32;
    const uint32_t* pairs = histogram.pairs;
    const uint32_t both = pairs[0] + pairs[1] + pairs[2] + pairs[3];
    const int own = static_cast<int>((both & 0xFFFF) + (both >> 16));
    int sum = own;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(kAllLanes, sum, step);
        if (lane >= step) sum += before;
    }
    if (ranks) {
        const int total = __shfl_sync(kAllLanes, sum, 31);
        if (total == 0) return {-1, 0};
        rank = ranks[total];
    }
    const int first = __ffs(__ballot_sync(kAllLanes, sum > rank)) - 1;
    int left = rank - (sum - own), bin = 0;
    bool passed = true;
#pragma unroll
    for (int i = 0; i < 7; ++i) {
        const uint32_t pair = pairs[i / 4 * 2 + i % 2];
        const int count = static_cast<int>(i % 4 < 2 ? pair & 0xFFFF : pair >> 16);
        passed = passed && left >= count;
        bin += passed;
        if (passed) left -= count;
    }
    return {__shfl_sync(kAllLanes, 8 * lane + bin, first), __shfl_sync(kAllLanes, left, first)};
}

}  // namespace mmp

using namespace mmp;

#if MMP_ORDERED

using Code = int16_t;
constexpr bool kOrdered = true;

#else

using Code = uint8_t;
constexpr bool kOrdered = false;

#endif

// Sets out[y][x] to the value of a rank in the window whose upper left corner is (y, x) in
// samples[border_rows][border_columns]. The rank is `rank`, or ranks[n] for n valid samples if
// `ranks` is not null. Samples are valid where `valid` is nonzero; null: all are valid.
// places[y][x], unless null, is set to 1 if the window has a valid sample, else to 0.
//
// With MMP_ORDERED, `samples` holds the bins of the regions of the grid's blocks, region after
// region; negative bins are invalid. out[y][x] is then a bin, and places[y][x] the rank within the
// bin as uint16_t, 65535 if the window has no valid sample.
//
// Grid: strips of `strip` columns x bands of `band` rows of the result, from band `first_band` on.
// Shared memory: 256 bytes for each of strip + width - 1 columns, rounded up to whole groups, and
// 512 bytes for each group.
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    slide_ranks(const Code* samples, const uint8_t* valid, const int* border_rows,
                const int* border_columns, Shape shape, int strip, int band, int first_band, int rank,
                const int* ranks, uint8_t* out, void* places) {
    extern __shared__ __align__(16) uint8_t memory[];
    const int left = blockIdx.x * strip, top = (first_band + blockIdx.y) * band;
    const int results = min(strip, shape.columns - left);
    const int bottom = min(top + band, shape.rows);
    const int columns = results + shape.width - 1;
    const int groups = (columns + kGroup - 1) / kGroup;
    const int region_columns = strip + shape.width - 1, region_rows = band + shape.height - 1;
    const int64_t region = int64_t{blockIdx.y} * gridDim.x + blockIdx.x;
    uint8_t* const bins = memory;
    uint32_t* const group_bins = reinterpret_cast<uint32_t*>(memory + groups * kGroup * kBins);
    for (int i = threadIdx.x; i < groups * (kGroup * kBins / 4 + kBins / 2); i += kThreads)
        reinterpret_cast<uint32_t*>(memory)[i] = 0;
    __syncthreads();
    const auto change = [&](int row, int by) {
        for (int column = threadIdx.x; column < columns; column += kThreads) {
            int64_t at;
            if (kOrdered)
                at = (region * region_rows + row - top) * region_columns + column;
            else
                at = int64_t{border_rows[row]} * shape.pitch + border_columns[left + column];
            const int code = samples[at];
            if (kOrdered ? code < 0 : valid && !valid[at]) continue;
            const uint32_t value = code;
            bins[column * kBins + value] += static_cast<uint8_t>(by);
            const uint32_t pair = value / 4 * 2 + value % 2;
            atomicAdd(&group_bins[column / kGroup * (kBins / 2) + pair],
                      static_cast<uint32_t>(by) << (value & 2 ? 16 : 0));
        }
    };
    for (int row = 0; row < shape.height - 1; ++row) change(top + row, 1);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int each = (results + kWarps - 1) / kWarps;
    const int first = warp * each, last = min(first + each, results);
    const auto column_bins = [&](int column) {
        return *reinterpret_cast<const uint2*>(bins + column * kBins + lane * 8);
    };
    for (int y = top; y < bottom; ++y) {
        change(y + shape.height - 1, 1);
        __syncthreads();
        if (first < last) {
            Histogram window{{0, 0, 0, 0}};
            for (int column = first; column < first + shape.width;) {
                if (column % kGroup == 0 && column + kGroup <= first + shape.width) {
                    window.add_group(*reinterpret_cast<const uint4*>(
                        group_bins + column / kGroup * (kBins / 2) + lane * 4));
                    column += kGroup;
                } else {
                    window.add_column(column_bins(column));
                    ++column;
                }
            }
            Found kept{0, 0};
            for (int x = first; x < last; ++x) {
                const Found found = find_rank(window, rank, ranks);
                const int nth = (x - first) % 32;
                if (lane == nth) kept = found;
                if ((nth == 31 || x == last - 1) && lane <= nth) {
                    const int64_t to = int64_t{y} * shape.columns + left + x - nth + lane;
                    const bool any = kept.bin >= 0;
                    out[to] = static_cast<uint8_t>(any ? kept.bin : 0);
                    if (kOrdered)
                        static_cast<uint16_t*>(places)[to] =
                            static_cast<uint16_t>(any ? kept.place : 0xFFFF);
                    else if (places)
                        static_cast<uint8_t*>(places)[to] = any;
                }
                if (x + 1 == last) break;
                window.add_column(column_bins(x + shape.width));
                window.take_column(column_bins(x));
            }
        }
        __syncthreads();
        change(y, -1);
    }
}
