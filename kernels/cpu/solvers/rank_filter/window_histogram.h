// Histogram of a window of bytes that slides over a picture, in constant time per pixel for any
// window size.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/runtime/simd.h"

namespace mmp {

// Each column of a stripe has a histogram of its rows inside the window; the window's histogram is
// the sum over its columns. Histograms have 16 coarse bins of 16 fine bins each and hold cumulative
// counts. The window's fine bins are updated only within the coarse bin that is searched.
//
// Source: S. Perreault and P. Hebert, "Median filtering in constant time", 2007. Cumulative counts,
// which reduce the search for a rank to one vector comparison, are not in the source.
class WindowHistogram {
public:
    static constexpr uint16_t kNothing = UINT16_MAX;  // the window has no value

    // Number of columns of the stripe and of the window. Windows have at most 255 rows, so the
    // counts of a column fit into bytes.
    WindowHistogram(int64_t columns, int64_t width);

    // Add or remove a row of the stripe: one value per column, invalid ones ignored. `valid` is
    // null if all values are valid.
    void enter(const uint8_t* values, const uint8_t* valid);
    void leave(const uint8_t* values, const uint8_t* valid);
    // leave() and enter() at once; all values are valid.
    void replace(const uint8_t* left, const uint8_t* entered);

    // For each window of the row: sets values[x] to the value of rank ranks[n] among its n values,
    // and places[x] to the rank minus the number of smaller values, or to kNothing.
    void find(const int32_t* ranks, uint8_t* values, uint16_t* places) const;

private:
    int64_t columns_;              // columns of the stripe
    int64_t width_;                // columns of the window
    std::vector<Bytes16> coarse_;  // by column
    std::vector<Bytes16> fine_;    // by coarse bin, then by column
};

}  // namespace mmp
