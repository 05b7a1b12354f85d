// How much errors count in each cell of 8x8 samples, beside the other cells of its fragment. Weights
// apply where a quantisation matrix measures errors by frequencies.
#pragma once

#include <stdint.h>

#include <vector>

#include "shared/blocks/partition.h"

namespace mmp {

constexpr int kCellLog2 = 3, kWeightBits = 4, kOneWeight = 1 << kWeightBits;

struct CellWeights {
    std::vector<uint8_t> values;  // row by row, in 1/16, 4 to 64; empty if all are 16
    int columns = 0;

    // Returns the weight of a block: the mean of the cells that it touches, rounded down.
    int of(const BlockPlace& block) const {
        if (values.empty()) return kOneWeight;
        const int last_row = (block.row + block.height() - 1) >> kCellLog2;
        const int last_column = (block.column + block.width() - 1) >> kCellLog2;
        int sum = 0, count = 0;
        for (int row = block.row >> kCellLog2; row <= last_row; ++row)
            for (int column = block.column >> kCellLog2; column <= last_column; ++column, ++count)
                sum += values[size_t(row) * columns + column];
        return sum / count;
    }
};

// Returns the cost of an error times a weight, rounded down.
inline int64_t weighed(int64_t cost, int weight) { return cost * weight >> kWeightBits; }

}  // namespace mmp
