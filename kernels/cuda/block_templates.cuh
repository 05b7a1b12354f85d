// Prediction by the places whose surroundings look most like those of the block. All threads of a
// CUDA block take part. Source: section "Prediction" of docs/format.md.
#pragma once

#include "block_state.cuh"
#include "warp.cuh"

namespace mmp {

constexpr uint64_t kNoPlace = ~uint64_t{0};
constexpr int kPlaceColumns = 2 * kTemplateColumns;
constexpr int kPlaceRows = kTemplateRows + kMaxSide;

struct TemplateMemory {
    int16_t above[kTemplateWidth * (kMaxSide + kTemplateWidth)], left[kTemplateWidth * kMaxSide];
    int16_t counts[kPlaceRows];  // of places in each row
    uint64_t least[kBlockWarps];
    uint64_t best[kMostTemplates];  // sum of squared differences << 32 | number of the place
};

// First row or column of a place.
MMP_HD int first_place(int at, int reach) { return larger(kTemplateWidth, at - reach); }

// Whether a block has a place to be predicted from. decoded(row, column) says it of a sample.
template <class Decoded>
__device__ bool templates_allowed(const Decoded& decoded, int row, int column, int a, int b) {
    if (min(row, column) < kTemplateWidth) return false;
    return decoded(first_place(row, kTemplateRows) + (1 << a) - 1,
                   first_place(column, kTemplateColumns) + (1 << b) - 1);
}

// view.pointer(row, column) is where a sample lies, view.stride what lies between its rows; rows and
// columns are those of the picture.
template <class View, class Decoded>
__device__ void predict_templates(const View& view, const Decoded& decoded, int row, int column,
                                  int a, int b, int picture_width, int most,
                                  TemplateMemory& memory, uint8_t* out) {
    const int height = 1 << a, width = 1 << b, across = width + kTemplateWidth;
    const int first_row = first_place(row, kTemplateRows);
    const int first_column = first_place(column, kTemplateColumns);
    const int beyond = column + kTemplateColumns;  // the first column where no place begins
    const auto corner = [&](int y, int x) {
        return view.pointer(y, x) - kTemplateWidth * view.stride - kTemplateWidth;
    };
    const uint8_t* own = corner(row, column);
    for (int i = threadIdx.x; i < kTemplateWidth * across; i += kBlockThreads)
        memory.above[i] = own[i / across * view.stride + i % across];
    for (int i = threadIdx.x; i < kTemplateWidth * height; i += kBlockThreads)
        memory.left[i] = own[(kTemplateWidth + i / kTemplateWidth) * view.stride +
                             i % kTemplateWidth];
    for (int r = threadIdx.x; r < kPlaceRows; r += kBlockThreads) {
        int end = min(beyond + width, picture_width);
        while (end > first_column && !decoded(first_row + r + height - 1, end - 1)) end -= kUnit;
        memory.counts[r] = int16_t(min(end - width + 1, beyond) - first_column);
    }
    __syncthreads();
    const int slack = kTemplateSlack * (height + width);
    uint64_t best[kMostTemplates];
    for (uint64_t& key : best) key = kNoPlace;
    for (int i = threadIdx.x; i < kPlaceRows * kPlaceColumns; i += kBlockThreads) {
        const int r = i / kPlaceColumns, j = i % kPlaceColumns;
        if (j >= memory.counts[r]) continue;
        const uint8_t* place = corner(first_row + r, first_column + j);
        // What no later place may reach to be among the best of this thread.
        const uint64_t nearest = best[0] >> 32, furthest = best[kMostTemplates - 1] >> 32;
        const uint32_t limit = uint32_t(min(min(2 * nearest + slack + 1, furthest),
                                            uint64_t{0xFFFFFFFF}));
        uint32_t sum = 0;
        for (int y = kTemplateWidth; y-- > 0;)
            for (int x = 0; x < across; ++x) {
                const int difference = memory.above[y * across + x] - place[y * view.stride + x];
                sum += difference * difference;
            }
        const uint8_t* beside = place + kTemplateWidth * view.stride;
        for (int y = 0; y < height && sum < limit; ++y, beside += view.stride)
            for (int x = 0; x < kTemplateWidth; ++x) {
                const int difference = memory.left[y * kTemplateWidth + x] - beside[x];
                sum += difference * difference;
            }
        if (sum >= limit) continue;
        uint64_t key = uint64_t{sum} << 32 | uint32_t(i);
        for (uint64_t& other : best)
            if (key < other) {
                const uint64_t further = other;
                other = key;
                key = further;
            }
    }
    for (int n = 0; n < most; ++n) {
        const uint64_t least = warp_min(best[0]);
        if (threadIdx.x % 32 == 0) memory.least[threadIdx.x / 32] = least;
        __syncthreads();
        uint64_t key = memory.least[0];
        for (const uint64_t other : memory.least) key = min(key, other);
        if (best[0] == key) {
            for (int k = 0; k + 1 < kMostTemplates; ++k) best[k] = best[k + 1];
            best[kMostTemplates - 1] = kNoPlace;
        }
        if (threadIdx.x == 0) memory.best[n] = key;
        __syncthreads();
    }
    const uint64_t furthest = 2 * (memory.best[0] >> 32) + slack;
    int count = 1;
    while (count < most && memory.best[count] != kNoPlace && memory.best[count] >> 32 <= furthest)
        ++count;
    for (int i = threadIdx.x; i < height * width; i += kBlockThreads) {
        int sum = count / 2;
        for (int n = 0; n < count; ++n) {
            const int place = int(uint32_t(memory.best[n]));
            sum += *view.pointer(first_row + place / kPlaceColumns + (i >> b),
                                 first_column + place % kPlaceColumns + (i & (width - 1)));
        }
        out[i] = uint8_t(sum / count);
    }
    __syncthreads();
}

}  // namespace mmp
