// Frequency weights: coarser steps for high frequencies, as the eye sees errors there less.
// Source: section "Frequency weights" of docs/format/format.md.
#pragma once

#include <stdint.h>

namespace mmp {

// Replaces weighted coefficients by those that they stand for. The strength is 1 to 15.
void unweight(int16_t* coefficients, int a, int b, int strength);

// Encoder only. Squared errors of a residual, in 1/64 squared error of 8-bit samples: `rest` of the
// coefficients that are not coded, `all` of these and of the others, if they all become 0.
struct WeightedErrors {
    int64_t rest = 0, all = 0;
};

// Encoder only. Weights coefficients. `energy` is that of the residual, in the same unit.
WeightedErrors weight(int16_t* coefficients, int a, int b, int strength, int64_t energy);

// Encoder only. Returns the sum of the squared differences of coefficients.
int64_t squared_error(const int16_t* coefficients, const int16_t* found, int count);

}  // namespace mmp
