// Rank filters of 8-bit samples by sliding histograms: time does not depend on the window.
//
// A block moves down a strip of columns and keeps a histogram of the window's height for each column,
// and for each group of 16 columns. A warp moves along a part of the row: the histogram of its window
// lies in its registers, 8 bins a lane; a column comes, a column goes.
// Source: S. Perreault and P. Hebert, "Median filtering in constant time", 2007; groups and warps are
// not in the source.
#include "rank.cuh"
#include "warp.cuh"

namespace mmp {

constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;
constexpr int kBins = 256;
constexpr int kGroup = 16;

// Bins 8 * lane to 8 * lane + 7, two in each number: of the four bytes of a word of a column's
// histogram the first and third in one, the others in the next.
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

// The value of a rank; all lanes get it.
__device__ inline int value_of_rank(const Histogram& histogram, int rank) {
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
    const int first = __ffs(__ballot_sync(kAllLanes, sum > rank)) - 1;
    int left = rank - (sum - own), bin = 0;
#pragma unroll
    for (int i = 0; i < 7; ++i) {
        const uint32_t pair = pairs[i / 4 * 2 + i % 2];
        left -= static_cast<int>(i % 4 < 2 ? pair & 0xFFFF : pair >> 16);
        bin += left >= 0;
    }
    return __shfl_sync(kAllLanes, 8 * lane + bin, first);
}

}  // namespace mmp

using namespace mmp;

// out[y][x]: the value of `rank` in the window whose upper left corner is (y, x) of
// samples[border_rows][border_columns]. Grid: strips of `strip` columns by bands of `band` rows of the
// result. Shared memory: for each of the strip's columns and the window's width less 1, rounded up
// to groups, 256 bytes, and 512 for each group.
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    slide_ranks(const uint8_t* samples, const int* border_rows, const int* border_columns, Shape shape,
                int strip, int band, int rank, uint8_t* out) {
    extern __shared__ __align__(16) uint8_t memory[];
    const int left = blockIdx.x * strip, top = blockIdx.y * band;
    const int results = min(strip, shape.columns - left);
    const int columns = results + shape.width - 1;
    const int groups = (columns + kGroup - 1) / kGroup;
    uint8_t* const bins = memory;
    uint32_t* const group_bins = reinterpret_cast<uint32_t*>(memory + groups * kGroup * kBins);
    for (int i = threadIdx.x; i < groups * (kGroup * kBins / 4 + kBins / 2); i += kThreads)
        reinterpret_cast<uint32_t*>(memory)[i] = 0;
    __syncthreads();
    const auto change = [&](int row, int by) {
        const uint8_t* from = samples + int64_t{border_rows[row]} * shape.pitch;
        for (int column = threadIdx.x; column < columns; column += kThreads) {
            const uint32_t value = from[border_columns[left + column]];
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
    for (int y = top; y < min(top + band, shape.rows); ++y) {
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
            int kept = 0;
            for (int x = first; x < last; ++x) {
                const int value = value_of_rank(window, rank);
                const int place = (x - first) % 32;
                if (lane == place) kept = value;
                if (place == 31 || x == last - 1) {
                    if (lane <= place)
                        out[int64_t{y} * shape.columns + left + x - place + lane] =
                            static_cast<uint8_t>(kept);
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
