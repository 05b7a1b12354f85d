// Choosing the levels of a block by rate and distortion.
#pragma once

#include <stdint.h>

#include "cpu/blocks/search/costs.h"

namespace mmp {

// Chooses levels of small cost, from high to low frequencies, then the last one. Gives the number
// of the last level in scan order, or -1 where all are zero. Cost holds the cost of a coefficient:
// 32 bits unless the costs are finer.
template <class Cost>
int choose_levels(const int16_t* coefficients, int a, int b, int32_t step,
                  const BlockCosts& costs, int16_t* levels);

// The cost of levels without that of the transform type.
int64_t cost_of_levels(const int16_t* levels, int a, int b, int last, const BlockCosts& costs);

}  // namespace mmp
