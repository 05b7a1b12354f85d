// Trellis quantisation of dependent levels: a Viterbi search over the quantiser states.
#pragma once

#include <stdint.h>

#include "cpu/blocks/search/levels.h"

namespace mmp {

// choose_levels() for dependent quantisation; does not compute `kept`.
LevelChoice choose_dependent_levels(const int16_t* coefficients, int a, int b, int family,
                                    int32_t step, const BlockCosts& costs, int16_t* levels);

}  // namespace mmp
