#include "cpu/solvers/rank_filter/window_histogram.h"

#include <algorithm>

namespace mmp {

namespace {

// Increments of cumulative counts by value: 1 for its bin and all higher bins.
struct Steps {
    Bytes16 of[16];
    Steps() : of{} {
        for (int bin = 0; bin < 16; ++bin)
            for (int above = bin; above < 16; ++above) of[bin][above] = 1;
    }
};
const Steps kSteps;

MMP_INLINE void add(Words16& sum, const Bytes16& counts) {
    sum += __builtin_convertvector(counts, Words16);
}

MMP_INLINE void subtract(Words16& sum, const Bytes16& counts) {
    sum -= __builtin_convertvector(counts, Words16);
}

// Returns the bin that contains a rank; replaces the rank by the rank within the bin.
MMP_INLINE int bin_of(const Words16& running, int& rank) {
    const LaneMask below(running <= static_cast<uint16_t>(rank));
    const int bin = below.count(0) + below.count(1);
    uint16_t counts[17];
    counts[0] = 0;
    __builtin_memcpy(counts + 1, &running, sizeof running);
    rank -= counts[bin];
    return bin;
}

MMP_SIMD_LEVELS void replace_values(const uint8_t* left, const uint8_t* entered, int64_t columns,
                                    Bytes16* coarse, Bytes16* fine) {
    for (int64_t column = 0; column < columns; ++column) {
        const int a = left[column], b = entered[column];
        coarse[column] += kSteps.of[b >> 4] - kSteps.of[a >> 4];
        fine[(a >> 4) * columns + column] -= kSteps.of[a & 15];
        fine[(b >> 4) * columns + column] += kSteps.of[b & 15];
    }
}

MMP_SIMD_LEVELS void find_ranks(const Bytes16* coarse, const Bytes16* fine, int64_t columns,
                                int64_t width, const int32_t* ranks, uint8_t* values,
                                uint16_t* places) {
    Words16 window{}, segments[16];
    int64_t last[16];  // window for which each segment was last updated
    std::fill_n(last, 16, -columns);
    for (int64_t column = 0; column < width - 1; ++column) add(window, coarse[column]);
    for (int64_t x = 0; x + width <= columns; ++x) {
        add(window, coarse[x + width - 1]);
        if (window[15] == 0) {
            values[x] = 0;
            places[x] = WindowHistogram::kNothing;
        } else {
            int rank = ranks[window[15]];
            const int bin = bin_of(window, rank);
            const Bytes16* counts = fine + bin * columns;
            Words16 segment{};
            if (2 * (x - last[bin]) > width) {
                for (int64_t column = x; column < x + width; ++column) add(segment, counts[column]);
            } else {
                segment = segments[bin];
                for (int64_t column = last[bin]; column < x; ++column) {
                    add(segment, counts[column + width]);
                    subtract(segment, counts[column]);
                }
            }
            segments[bin] = segment;
            last[bin] = x;
            values[x] = static_cast<uint8_t>(bin * 16 + bin_of(segment, rank));
            places[x] = static_cast<uint16_t>(rank);
        }
        subtract(window, coarse[x]);
    }
}

}  // namespace

WindowHistogram::WindowHistogram(int64_t columns, int64_t width)
    : columns_(columns), width_(width), coarse_(columns), fine_(16 * columns) {}

void WindowHistogram::enter(const uint8_t* values, const uint8_t* valid) {
    for (int64_t column = 0; column < columns_; ++column) {
        if (valid && !valid[column]) continue;
        const int value = values[column];
        coarse_[column] += kSteps.of[value >> 4];
        fine_[(value >> 4) * columns_ + column] += kSteps.of[value & 15];
    }
}

void WindowHistogram::leave(const uint8_t* values, const uint8_t* valid) {
    for (int64_t column = 0; column < columns_; ++column) {
        if (valid && !valid[column]) continue;
        const int value = values[column];
        coarse_[column] -= kSteps.of[value >> 4];
        fine_[(value >> 4) * columns_ + column] -= kSteps.of[value & 15];
    }
}

void WindowHistogram::replace(const uint8_t* left, const uint8_t* entered) {
    replace_values(left, entered, columns_, coarse_.data(), fine_.data());
}

void WindowHistogram::find(const int32_t* ranks, uint8_t* values, uint16_t* places) const {
    find_ranks(coarse_.data(), fine_.data(), columns_, width_, ranks, values, places);
}

}  // namespace mmp
