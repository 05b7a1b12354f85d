// Rank filters by radix selection: one thread per window reads the window's values once for every
// two bits of the result. The time is proportional to the window's area. The sides of small windows
// are compile-time constants, so that their values stay in registers.
//
// Compile-time parameters: type of the samples (-DMMP_VALUE), sides of the window (-DMMP_HEIGHT,
// -DMMP_WIDTH; 0: given as arguments), and whether there is a mask (-DMMP_MASKED).
#include "shared/integers.h"
#include "cuda/solvers/rank_filter/rank.cuh"

#ifndef MMP_VALUE
#define MMP_VALUE unsigned short
#endif
#ifndef MMP_HEIGHT
#define MMP_HEIGHT 0
#endif
#ifndef MMP_WIDTH
#define MMP_WIDTH 0
#endif
#ifndef MMP_MASKED
#define MMP_MASKED 0
#endif

namespace mmp {

using Value = MMP_VALUE;

constexpr int kBits = 8 * sizeof(Value);
constexpr bool kSmall = MMP_HEIGHT > 0;
constexpr int kNetwork = 25;  // largest window whose median a comparison network finds

__device__ inline void order(uint32_t& a, uint32_t& b) {
    const uint32_t lower = a < b ? a : b;
    b = a < b ? b : a;
    a = lower;
}

// Returns the median of an odd number of values. Neither the minimum nor the maximum of the first
// kCount / 2 + 2 values can be the median, so one further value replaces both, until three values
// are left.
template <int kCount>
__device__ inline uint32_t median_of(const Value (&values)[kCount]) {
    constexpr int kFirst = kCount / 2 + 2;
    uint32_t kept[kFirst];
#pragma unroll
    for (int i = 0; i < kFirst; ++i) kept[i] = i < kCount ? values[i] : 0;
#pragma unroll
    for (int size = kFirst; size >= 3; --size) {
#pragma unroll
        for (int i = 0; i < size / 2; ++i) order(kept[i], kept[size - 1 - i]);
#pragma unroll
        for (int i = 1; i < (size + 1) / 2; ++i) order(kept[0], kept[i]);
#pragma unroll
        for (int i = size / 2; i < size - 1; ++i) order(kept[i], kept[size - 1]);
        if (size > 3) kept[0] = values[kCount + 3 - size];
    }
    return kept[1];
}

}  // namespace mmp

using namespace mmp;

// Sets out[y][x] to the value of rank ranks[n] among the n valid samples of the window whose upper
// left corner is (y, x) in samples[border_rows][border_columns]; 0 if n is 0. With a mask, `found`
// is set to 1 if n is above 0, else to 0. Grid: rows x columns of blocks of 8 x 32 threads.
extern "C" __global__ void __launch_bounds__(256)
    search_ranks(const Value* samples, const unsigned char* valid, const int* border_rows,
                 const int* border_columns, Shape shape, const int* ranks, Value* out,
                 unsigned char* found) {
    const int x = blockIdx.y * 32 + threadIdx.x % 32, y = blockIdx.x * 8 + threadIdx.x / 32;
    if (x >= shape.columns || y >= shape.rows) return;
    const int height = kSmall ? MMP_HEIGHT : shape.height;
    const int width = kSmall ? MMP_WIDTH : shape.width;
    constexpr int kKept = kSmall ? MMP_HEIGHT * MMP_WIDTH : 1;
    Value kept[kKept];
    bool counts_kept[kKept];
    const auto place = [&](int dy, int dx) {
        return int64_t{border_rows[y + dy]} * shape.pitch + border_columns[x + dx];
    };
    int count = height * width;
    if (kSmall) {
#pragma unroll
        for (int i = 0; i < kKept; ++i) {
            const int64_t at = place(i / (kSmall ? MMP_WIDTH : 1), i % (kSmall ? MMP_WIDTH : 1));
            kept[i] = samples[at];
            counts_kept[i] = !MMP_MASKED || valid[at];
        }
    }
    if (MMP_MASKED) {
        count = 0;
        if (kSmall) {
#pragma unroll
            for (int i = 0; i < kKept; ++i) count += counts_kept[i];
        } else {
            for (int dy = 0; dy < height; ++dy)
                for (int dx = 0; dx < width; ++dx) count += valid[place(dy, dx)] != 0;
        }
    }
    int rank = ranks[count];
    uint32_t prefix = 0;
    const int64_t result = int64_t{y} * shape.columns + x;
    if constexpr (kSmall && !MMP_MASKED && kKept <= kNetwork && kKept % 2) {
        if (rank == kKept / 2) {
            out[result] = static_cast<Value>(median_of(kept));
            return;
        }
    }
#pragma unroll 1
    for (int shift = kBits - 2; shift >= 0; shift -= 2) {
        // Four packed 16-bit counts; a window has fewer than 2^16 values.
        uint64_t counts = 0;
        const auto add = [&](uint32_t value, bool is_valid) {
            const uint32_t from = value >> shift;
            if (is_valid && from >> 2 == prefix >> 2) counts += uint64_t{1} << (from % 4 * 16);
        };
        if (kSmall) {
#pragma unroll
            for (int i = 0; i < kKept; ++i) add(kept[i], counts_kept[i]);
        } else {
            for (int dy = 0; dy < height; ++dy) {
                const int64_t row = int64_t{border_rows[y + dy]} * shape.pitch;
#pragma unroll 4
                for (int dx = 0; dx < width; ++dx) {
                    const int64_t at = row + border_columns[x + dx];
                    add(samples[at], !MMP_MASKED || valid[at]);
                }
            }
        }
        int digit = 0;
        for (; digit < 3; ++digit) {
            const int here = static_cast<int>(counts >> (16 * digit) & 0xFFFF);
            if (rank < here) break;
            rank -= here;
        }
        prefix = (prefix | digit) << (shift ? 2 : 0);
    }
    out[result] = count ? static_cast<Value>(prefix) : 0;
    if (MMP_MASKED) found[result] = count > 0;
}
