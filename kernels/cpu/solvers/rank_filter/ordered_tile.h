// The values of a tile in ascending order.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "cpu/solvers/rank_filter/bordered_picture.h"
#include "cpu/solvers/rank_filter/lanes.h"

namespace mmp {

// The sorted values are divided into 256 bins of equal size; the bin index replaces a value of any
// type. Ties are ordered by position, so the bins have equal size for every picture. A rank within
// a bin is found by a linear search through the values of the bin.
//
// Source for the use of ranks: J. Suomela, "Median filtering is equivalent to sorting", 2014.
template <class T>
class OrderedTile {
public:
    // Sorts rows x columns samples by their keys; `valid` is null if all samples are valid.
    void sort(const Key<T>* keys, const uint8_t* valid, int64_t rows, int64_t columns);

    // Returns the bin of each value, row by row; undefined for invalid values.
    const uint8_t* bins() const { return bins_.data(); }

    // Number of valid values; value and position of valid value i in ascending order.
    size_t count() const { return items_.size(); }
    T value(size_t i) const { return from_key<T>(items_[i].value); }
    int64_t row(size_t i) const { return items_[i].row; }
    int64_t column(size_t i) const { return items_[i].column; }

    // For `count` windows with their upper left corners in `row`, from column 0 on: sets out[x] to
    // value number places[x] of bin bins[x], counting only values inside window x; 0 if there is
    // none.
    void look_up(int64_t row, int64_t count, Window window, const uint8_t* bins,
                 const uint16_t* places, T* out);

private:
    struct Item {
        Key<T> value;
        uint16_t row, column;
    };
    void sort_items();

    size_t bin_size_ = 0;
    std::vector<Item> items_, spare_;
    std::vector<uint16_t> rows_, columns_;  // of the items, padded for vector loads
    std::vector<uint8_t> bins_;
    std::vector<uint32_t> found_;
};

}  // namespace mmp
