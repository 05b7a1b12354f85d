// Rank filters, second step: finds each result from its bin and its rank within the bin.
//
// The samples of a region are sorted and divided into 256 bins of equal size; row and column of
// each sample are known. A warp scans the samples of the bin in order and counts those inside the
// pixel's window until it reaches the rank. Compile-time parameter: type of the samples
// (-DMMP_VALUE).
#include "cuda/solvers/rank_filter/rank.cuh"
#include "cuda/device/warp.cuh"

#ifndef MMP_VALUE
#define MMP_VALUE unsigned short
#endif

namespace mmp {

using Value = MMP_VALUE;

constexpr int kThreads = 256;
constexpr int kBins = 256;
constexpr int kNothing = 0xFFFF;

}  // namespace mmp

using namespace mmp;

// Sets out[y][x] for the rows of `bands` bands from `first_band` on; 0 if the window has no valid
// sample. `found`, unless null, is set to 1 if the window has a valid sample, else to 0. `values`
// and `positions` (row << 16 | column) are sorted within each region; regions have `in_region`
// samples, of which the first counts[region] are valid. Grid: any number of blocks; a warp
// processes one pixel at a time.
extern "C" __global__ void __launch_bounds__(kThreads)
    values_at_places(const Value* values, const uint32_t* positions, const int64_t* counts,
                     int64_t in_region, const uint8_t* bins, const uint16_t* places, Shape shape,
                     int strip, int band, int first_band, int bands, Value* out, uint8_t* found) {
    const int lane = threadIdx.x % 32;
    const int strips = (shape.columns + strip - 1) / strip;
    const int top = first_band * band, bottom = min(top + bands * band, shape.rows);
    const int64_t pixels = int64_t{bottom - top} * shape.columns;
    const int64_t warps = int64_t{gridDim.x} * (kThreads / 32);
    for (int64_t i = int64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32; i < pixels; i += warps) {
        const int y = top + static_cast<int>(i / shape.columns);
        const int x = static_cast<int>(i % shape.columns);
        const int64_t at = int64_t{y} * shape.columns + x;
        int place = places[at];
        if (place == kNothing) {
            if (lane == 0) {
                out[at] = 0;
                if (found) found[at] = 0;
            }
            continue;
        }
        const int region_y = y / band - first_band, region_x = x / strip;
        const int64_t region = int64_t{region_y} * strips + region_x;
        const uint32_t row = y - (first_band + region_y) * band, column = x - region_x * strip;
        const int64_t size = (counts[region] + kBins - 1) / kBins;
        const int64_t begin = bins[at] * size;
        const int64_t end = min(begin + size, counts[region]);
        const int64_t base = region * in_region;
        for (int64_t first = begin; first < end; first += 32) {
            bool inside = false;
            if (first + lane < end) {
                const uint32_t position = positions[base + first + lane];
                inside = (position >> 16) - row < static_cast<uint32_t>(shape.height) &&
                         (position & 0xFFFF) - column < static_cast<uint32_t>(shape.width);
            }
            uint32_t lanes = __ballot_sync(kAllLanes, inside);
            const int count = __popc(lanes);
            if (place >= count) {
                place -= count;
                continue;
            }
            for (; place > 0; --place) lanes &= lanes - 1;
            if (lane == 0) {
                out[at] = values[base + first + __ffs(lanes) - 1];
                if (found) found[at] = 1;
            }
            break;
        }
    }
}
