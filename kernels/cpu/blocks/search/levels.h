// The choice of the levels of a block by rate and distortion.
#pragma once

#include <stdint.h>

#include "cpu/blocks/search/costs.h"

namespace mmp {

// Chooses levels of small cost, from high to low frequencies, then the place of the last level.
// Returns this place in scan order, or -1 where all levels are 0. Cost is the type of the cost of a
// coefficient, which has 32 bits unless costs are finer.
template <class Cost>
int choose_levels(const int16_t* coefficients, int a, int b, int32_t step,
                  const BlockCosts& costs, int16_t* levels);

// Returns the cost of levels without that of the transform type.
int64_t cost_of_levels(const int16_t* levels, int a, int b, int last, const BlockCosts& costs);

}  // namespace mmp
