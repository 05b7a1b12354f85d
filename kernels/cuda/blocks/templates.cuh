// Template matching: predicts a block by the average of the places whose templates are most
// similar. A warp compares a row of places; each lane compares the four places that begin in one
// 32-bit word, and keeps the best place of each of the four columns.
// Source: section "Templates" of docs/format/format.md.
#pragma once

#include "cuda/blocks/state.cuh"
#include "cuda/device/warp.cuh"

namespace mmp {

constexpr uint32_t kNoPlace = ~uint32_t{0};
constexpr int kLanePlaces = sizeof(uint32_t);
constexpr int kPlaceColumnsLog2 = 7, kPlaceRowsLog2 = 6;
static_assert(kTemplateSamples * 255 < 1 << (32 - kPlaceRowsLog2 - kPlaceColumnsLog2));
static_assert(1 << kPlaceColumnsLog2 >= 2 * kTemplateColumns &&
                  2 * kTemplateColumns <= 32 * kLanePlaces,
              "the lanes of a warp share the places of a row");

// Template of a block and the best places that one warp has found.
struct TemplateMemory {
    // Template: both rows above the block as words, and for every two rows the pairs of samples
    // left of them, the corner first.
    uint2 above[kMaxSide / kLanePlaces];
    uint32_t beside[kMaxSide / 2 + 1];
    uint32_t best[32 * kLanePlaces];  // by column: error and row
};

// First row or column of the search area of a block.
MMP_HD int first_place(int at, int reach) { return larger(kTemplateWidth, at - reach); }

// First column for the numbering of places: a multiple of 4 at or before the first place.
MMP_HD int places_from(int column) { return larger(0, column - kTemplateColumns); }

// Whether template matching has at least one place to compare with the block. decoded(row, column)
// returns whether a sample is decoded.
template <class Decoded>
__device__ bool templates_allowed(const Decoded& decoded, int row, int column, int a, int b) {
    if (min(row, column) < kTemplateWidth) return false;
    return decoded(first_place(row, kTemplateRows) + (1 << a) - 1,
                   first_place(column, kTemplateColumns) + (1 << b) - 1);
}

// Adds the absolute differences of those of four packed samples whose byte of `taken` is 1.
__device__ inline uint32_t add_differences(uint32_t x, uint32_t y, uint32_t taken, uint32_t sum) {
    return __dp4a(__vabsdiffu4(x, y), taken, sum);
}

// The samples of a word that a template takes, `first` samples after the block begins.
__device__ inline uint32_t taken_across(int first, int step) {
    if (first % step) return 0;
    return step == 1 ? 0x01010101u : step == 2 ? 0x00010001u : 1u;
}
// The same of the pairs left of two rows.
__device__ inline uint32_t taken_beside(int first, int step) {
    if (first % step) return 0;
    return step == 1 ? 0x01010101u : 0x00000101u;
}

// The word of a row in which a lane's places begin, and the previous word.
struct RowWords {
    uint32_t before, here;
};

// Adds the differences of the sample pairs left of two rows, for the four places of a lane.
__device__ inline void add_pairs(const RowWords& upper, const RowWords& lower, uint32_t wanted,
                                 uint32_t taken, uint32_t (&sums)[kLanePlaces]) {
    const uint32_t first = __byte_perm(upper.before, lower.before, 0x7632);
    const uint32_t third = __byte_perm(upper.here, lower.here, 0x5410);
    sums[0] = add_differences(first, wanted, taken, sums[0]);
    sums[1] = add_differences(__byte_perm(first, third, 0x6341), wanted, taken, sums[1]);
    sums[2] = add_differences(third, wanted, taken, sums[2]);
    sums[3] = add_differences(__byte_perm(upper.here, lower.here, 0x6521), wanted, taken, sums[3]);
}

// Finds the best places in every `searchers`-th pair of rows, from pair `searcher` on. One warp
// calls it.
//
// Rows and columns are coordinates of the picture. view.pointer(row, column) points to the eight most
// significant bits of a sample;
// view.stride is the distance between rows in samples. Words that begin at columns 0, 4, ... must
// be aligned. The word before a place, the word after it and the row below it are read. end_of(row)
// is the exclusive end of the decoded columns; all lanes call it together.
template <class View, class End>
__device__ void search_places(const View& view, const End& end_of, int row, int column, int a, int b,
                              int searcher, int searchers, TemplateMemory& memory) {
    const int height = 1 << a, width = 1 << b, lane = threadIdx.x % 32;
    const int down = template_step(height), across = template_step(width);
    const int first_row = first_place(row, kTemplateRows);
    const int first_column = first_place(column, kTemplateColumns);
    const int beyond = column + kTemplateColumns;
    const int own = places_from(column) + kLanePlaces * lane;
    const int read = min(own, beyond - kLanePlaces);  // lanes beyond the last place stay inside
    const int stride = view.stride / int(sizeof(uint32_t));
    const auto words = [&](int y, int x) {
        return reinterpret_cast<const uint32_t*>(view.pointer(y - kTemplateWidth, x));
    };
    const uint32_t* const block = words(row, column);
    for (int n = lane; n < width / kLanePlaces; n += 32)
        memory.above[n] = {block[n], block[stride + n]};
    for (int n = lane; n <= height / 2; n += 32) {
        const uint32_t* const word = block + 2 * n * stride;
        memory.beside[n] = __byte_perm(word[-1], word[stride - 1], 0x7632);
    }
    __syncwarp();
    uint32_t best[kLanePlaces];
    for (uint32_t& key : best) key = kNoPlace;
    for (int r = 2 * searcher;; r += 2 * searchers) {
        const int y = first_row + r;
        const auto places_of = [&](int y) {
            const int end = min(end_of(y + height - 1) - width + 1, beyond);
            return y > row ? 0 : max(0, end - first_column);
        };
        const uint32_t counts[2] = {uint32_t(places_of(y)), uint32_t(places_of(y + 1))};
        if (counts[0] == 0) break;
        const uint32_t* const place = words(y, read);
        const auto row_words = [&](int i) {
            return RowWords{place[i * stride - 1], place[i * stride]};
        };
        uint32_t sums[2][kLanePlaces] = {};
        RowWords last = row_words(2);
        {
            const RowWords upper = row_words(0), middle = row_words(1);
            add_pairs(upper, middle, memory.beside[0], 0x01010101u, sums[0]);
            add_pairs(middle, last, memory.beside[0], 0x01010101u, sums[1]);
            uint32_t over = upper.here, on = middle.here, under = last.here;
#pragma unroll 1
            for (int n = 0; n < width / kLanePlaces; ++n) {
                const uint2 wanted = memory.above[n];
                const uint32_t taken = taken_across(kLanePlaces * n, across);
                const uint32_t over_next = place[n + 1], on_next = place[stride + n + 1];
                const uint32_t under_next = place[2 * stride + n + 1];
#pragma unroll
                for (int k = 0; k < kLanePlaces; ++k) {
                    const uint32_t x = __funnelshift_r(over, over_next, 8 * k);
                    const uint32_t y = __funnelshift_r(on, on_next, 8 * k);
                    const uint32_t z = __funnelshift_r(under, under_next, 8 * k);
                    sums[0][k] = add_differences(x, wanted.x, taken, sums[0][k]);
                    sums[0][k] = add_differences(y, wanted.y, taken, sums[0][k]);
                    sums[1][k] = add_differences(y, wanted.x, taken, sums[1][k]);
                    sums[1][k] = add_differences(z, wanted.y, taken, sums[1][k]);
                }
                over = over_next, on = on_next, under = under_next;
            }
        }
        const auto compare_beside = [&](int n) {
            const RowWords middle = row_words(2 * n + 1), next = row_words(2 * n + 2);
            const uint32_t taken = taken_beside(2 * n - 2, down);
            add_pairs(last, middle, memory.beside[n], taken, sums[0]);
            add_pairs(middle, next, memory.beside[n], taken, sums[1]);
            last = next;
        };
#pragma unroll 1
        for (int n = 1; n < height / 2; n += 2) compare_beside(n), compare_beside(n + 1);
#pragma unroll
        for (int k = 0; k < kLanePlaces; ++k)
#pragma unroll
            for (int lower = 0; lower < 2; ++lower)
                if (uint32_t(own + k - first_column) < counts[lower])
                    best[k] = min(best[k], sums[lower][k] << kPlaceRowsLog2 | (r + lower));
    }
    for (int k = 0; k < kLanePlaces; ++k) memory.best[kLanePlaces * lane + k] = best[k];
}

// Predicts a block by the average of its best places, of which view.sample(row, column) points to the
// first sample. All threads of the CUDA block call it.
template <class View>
__device__ void average_places(const View& view, int row, int column, int a, int b, int most,
                               int searchers, const TemplateMemory* memory, Sample* out) {
    const int height = 1 << a, width = 1 << b, lane = threadIdx.x % 32;
    uint32_t keys[kLanePlaces];  // error, row, column
#pragma unroll
    for (int k = 0; k < kLanePlaces; ++k) {
        const int at = kLanePlaces * lane + k;
        uint32_t best = kNoPlace;
        for (int n = 0; n < searchers; ++n) best = min(best, memory[n].best[at]);
        keys[k] = best == kNoPlace ? kNoPlace : best << kPlaceColumnsLog2 | at;
    }
    constexpr int kErrorShift = kPlaceRowsLog2 + kPlaceColumnsLog2;
    const Sample* places[kMostTemplates];
    uint32_t furthest = 0;
    int count = 0;
#pragma unroll
    for (int n = 0; n < kMostTemplates; ++n) {
        const uint32_t own = min(min(keys[0], keys[1]), min(keys[2], keys[3]));
        const uint32_t least = __reduce_min_sync(kAllLanes, own);
        for (uint32_t& key : keys)
            if (key == least) key = kNoPlace;
        const uint32_t error = least >> kErrorShift;
        if (n == 0) furthest = furthest_template(error, height, width);
        if (n < most && least != kNoPlace && error <= furthest) ++count;
        const uint32_t number = least % (1 << kErrorShift);
        places[n] = view.sample(first_place(row, kTemplateRows) + int(number >> kPlaceColumnsLog2),
                                places_from(column) + int(number % (1 << kPlaceColumnsLog2)));
    }
    for (int i = threadIdx.x; i < height * width; i += kBlockThreads) {
        const int at = (i >> b) * view.stride + (i & (width - 1));
        int sum = count / 2;
#pragma unroll
        for (int n = 0; n < kMostTemplates; ++n)
            if (n < count) sum += places[n][at];
        out[i] = Sample(sum / count);
    }
}

}  // namespace mmp
