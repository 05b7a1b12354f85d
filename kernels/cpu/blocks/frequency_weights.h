// Frequency weights: coarser steps for high frequencies, as the eye sees errors there less.
// Source: section "Frequency weights" of docs/format/format.md.
#pragma once

#include <stdint.h>

namespace mmp {

// The weights of the coefficients of a shape, which are in 1/64, and what multiplies by their
// inverses: in 1/65536.
struct FrequencyWeights {
    const uint16_t* weights;
    const uint32_t* inverses;
    int count;
    int32_t last;  // weight of the highest frequency that is coded
    bool all;      // whether all frequencies are coded
};

// A strength above 0, at most 15.
FrequencyWeights frequency_weights(int a, int b, int strength);

// Replaces weighted coefficients by those that they stand for.
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
