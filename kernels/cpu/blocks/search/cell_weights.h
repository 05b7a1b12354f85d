// Weights of the cells of a plane, see weight_of().
#pragma once

#include <stdint.h>

#include <vector>

#include "shared/blocks/search.h"

namespace mmp {

struct CellWeights {
    std::vector<uint8_t> values;  // row by row, in 1/16, 4 to 64; empty if all are 16
    int columns = 0;

    int of(const BlockPlace& block) const {
        return values.empty() ? kOneWeight : weight_of(values.data(), columns, block);
    }
};

}  // namespace mmp
