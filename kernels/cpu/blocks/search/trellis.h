// The choice of dependent levels by rate and distortion: a Viterbi search over the states.
#pragma once

#include <stdint.h>

#include "cpu/blocks/search/levels.h"

namespace mmp {

// As choose_levels(), for dependent quantisation; `kept` is not computed.
LevelChoice choose_dependent_levels(const int16_t* coefficients, int a, int b, int family,
                                    int32_t step, const BlockCosts& costs, int16_t* levels);

}  // namespace mmp
