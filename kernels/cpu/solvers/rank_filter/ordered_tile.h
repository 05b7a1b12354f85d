// The values of a part of a picture in ascending order, with access by rank.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "cpu/solvers/rank_filter/bordered_picture.h"

namespace mmp {

// The values in rising order are cut into 256 bins of one size: a value of any type becomes the
// byte that is its bin. Equal values are told apart by their place, so no picture makes bins of
// unequal size. A rank within a bin is found by looking at what the bin holds.
//
// Source of ranks in place of values: J. Suomela, "Median filtering is equivalent to sorting",
// 2014.
template <class T>
class OrderedTile {
public:
    // Takes rows x columns values; `valid` is null where all count.
    void sort(const T* values, const uint8_t* valid, int64_t rows, int64_t columns);

    // The bins of all values, row by row; of no meaning where a value does not count.
    const uint8_t* bins() const { return bins_.data(); }

    // For `count` windows along a row, the first in column 0 with its top there: the value in a bin
    // at a place among those of the window in this bin; 0 where there is none.
    void look_up(int64_t row, int64_t count, Window window, const uint8_t* bins,
                 const uint16_t* places, T* out);

private:
    struct Item {
        uint32_t value;
        uint16_t row, column;
    };
    void sort_items();

    size_t bin_size_ = 0;
    std::vector<Item> items_, spare_;
    std::vector<uint16_t> rows_, columns_;  // of the items, as vectors read them
    std::vector<uint8_t> bins_;
    std::vector<uint32_t> found_;
};

}  // namespace mmp
