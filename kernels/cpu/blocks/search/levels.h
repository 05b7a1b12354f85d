// Rate-distortion optimised quantisation (RDOQ) of a block with independent levels.
#pragma once

#include <stdint.h>

#include "cpu/blocks/search/costs.h"

namespace mmp {

struct LevelChoice {
    int last;      // scan position of the last non-zero level; -1: all are 0
    int64_t cost;  // cost of the rate of the levels, transform type excluded
    int64_t kept;  // energy of the coefficients that the levels represent, in 1/64
};

// Returns the cost of the rate of independent levels, transform type excluded. `family` is the
// Family of the block's mode.
int64_t cost_of_levels(const int16_t* levels, int a, int b, int family, int last,
                       const BlockCosts& costs);

// Chooses levels of low RD cost from high to low frequencies, then the last scan position. Cost is
// the type of the cost of one coefficient: 32 bits, unless costs are in a finer unit.
template <class Cost>
LevelChoice choose_levels(const int16_t* coefficients, int a, int b, int family, int32_t step,
                          const BlockCosts& costs, int16_t* levels);

// Estimate of the result of choose_levels(), from levels that are rounded without regard to their
// rate.
struct LevelEstimate {
    int64_t cost;  // cost of the rate, transform type excluded
    int64_t kept;  // energy of the coefficients that the levels represent, in 1/16
};
LevelEstimate estimate_levels(const int16_t* coefficients, int a, int b, int32_t step,
                              int32_t plain);

}  // namespace mmp
