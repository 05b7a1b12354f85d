// Trellis quantisation of dependent levels: a Viterbi search over the quantiser states.
#pragma once

#include <stdint.h>

#include "cpu/blocks/search/levels.h"

namespace mmp {

// choose_levels() for dependent quantisation; does not compute `kept`. `weight` says how much errors
// count, in 1/16.
LevelChoice choose_dependent_levels(const int16_t* coefficients, int a, int b, int family,
                                    int32_t step, int weight, const BlockCosts& costs,
                                    int16_t* levels);

}  // namespace mmp
