// Selection from 16-bit values.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/solvers/selection/selection.h"

namespace mmp {

// Finds each key by quartering its range: each pass counts the keys below three bounds, vectorised.
// Returns the number of NaN.
int64_t select_words(const uint16_t* values, int64_t count, Kind kind,
                     const std::vector<int64_t>& ranks, uint64_t* out);

}  // namespace mmp
