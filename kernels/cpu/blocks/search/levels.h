// The choice of the levels of a block by rate and distortion.
#pragma once

#include <stdint.h>

#include "cpu/blocks/search/costs.h"

namespace mmp {

struct LevelChoice {
    int last;      // place of the last level in scan order, or -1 where all levels are 0
    int64_t cost;  // of the rate of the levels, without the transform type
    int64_t kept;  // energy of the coefficients that the levels code, in 1/64
};

// Returns the cost of the rate of independent levels, without that of the transform type. `family` is that of
// the block's mode.
int64_t cost_of_levels(const int16_t* levels, int a, int b, int family, int last,
                       const BlockCosts& costs);

// Chooses levels of small cost, from high to low frequencies, then the place of the last level.
// Cost is the type of the cost of a coefficient, which has 32 bits unless costs are finer.
template <class Cost>
LevelChoice choose_levels(const int16_t* coefficients, int a, int b, int family, int32_t step,
                          const BlockCosts& costs, int16_t* levels);

// An estimate of the result of choose_levels(), from levels that are rounded without regard to their
// rates.
struct LevelEstimate {
    int64_t cost;  // of the rate, without the transform type
    int64_t kept;  // energy of the coefficients that the levels code, in 1/16
};
LevelEstimate estimate_levels(const int16_t* coefficients, int a, int b, int32_t step,
                              int32_t plain);

}  // namespace mmp
