// The histogram of a window of bytes that moves over a picture, in time that does not depend on the
// window's size.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/runtime/simd.h"

namespace mmp {

// Each column of a stripe has a histogram of the rows in the window, and the window's histogram is
// the sum of its columns'. Histograms have 16 coarse bins of 16 fine ones each, and hold running
// counts: a bin's count includes the bins below. The window's fine bins are brought up to date only
// within the coarse bin that is looked into.
//
// Source: S. Perreault and P. Hebert, "Median filtering in constant time", 2007. Running counts,
// which turn the search for a rank into one comparison of vectors, are not in the source.
class WindowHistogram {
public:
    static constexpr uint16_t kNothing = UINT16_MAX;  // no value in the window

    // Columns of a stripe. With a window of up to 255 rows the counts of a column fit into bytes.
    WindowHistogram(int64_t columns, int64_t width);

    // A row of the stripe, one value a column, of which those not valid are left out. `valid` is
    // null where all are.
    void enter(const uint8_t* values, const uint8_t* valid);
    void leave(const uint8_t* values, const uint8_t* valid);
    // Both at once, where all are valid.
    void replace(const uint8_t* left, const uint8_t* entered);

    // For each window along the row: the value of rank ranks[n] of its n values, and how many of
    // the window's equal values come before that rank; or kNothing.
    void find(const int32_t* ranks, uint8_t* values, uint16_t* places) const;

private:
    int64_t columns_;  // of the stripe
    int64_t width_;    // of the window
    std::vector<Bytes16> coarse_;  // by column
    std::vector<Bytes16> fine_;    // by coarse bin, by column
};

}  // namespace mmp
