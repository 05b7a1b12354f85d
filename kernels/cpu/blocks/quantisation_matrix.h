// Quantisation matrix (a quantisation matrix): coarser steps for high frequencies, where the eye
// sees errors less. Source: section "Quantisation matrix" of docs/format/format.md.
#pragma once

#include <stdint.h>

namespace mmp {

// Decoder side: multiplies dequantised coefficients by the weights, in place. `strength` is 1 to
// 15.
void unweight(int16_t* coefficients, int a, int b, int strength);

// Encoder only. Weighted squared errors of a residual, in 1/64 squared error of 8-bit samples:
// `rest` is the error of the coefficients outside the coded low frequencies; `all` is the error if
// every coefficient becomes 0.
struct WeightedErrors {
    int64_t rest = 0, all = 0;
};

// Encoder only. Divides coefficients by the weights, in place. `energy` is the energy of the
// residual, in 1/64 squared error of 8-bit samples.
WeightedErrors weight(int16_t* coefficients, int a, int b, int strength, int64_t energy);

// Encoder only. Returns the sum of squared differences of two arrays of coefficients.
int64_t squared_error(const int16_t* coefficients, const int16_t* found, int count);

}  // namespace mmp
