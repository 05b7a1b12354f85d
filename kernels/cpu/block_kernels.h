// What is computed of whole blocks, for several levels of SIMD.
#pragma once

#include <stdint.h>

#include "../shared/prediction.h"
#include "../shared/transform.h"

namespace mmp {

// Decoded samples around a block: above it (first at [0]), left of it, and the corner.
struct References {
    static constexpr int kLength = 2 * kMaxSide;
    int16_t above[kLength], left[kLength], corner;

    References smoothed(int length) const;
};

// Every mode up to the angles. `smooth` are the smoothed references, from kSmoothedFrom on.
void predict_block(int mode, const References& references, const References& smooth, int a, int b,
                   uint8_t* out);

// Sum of absolute Hadamard differences of 4x4 pieces.
int32_t hadamard_difference(const uint8_t* source, const uint8_t* prediction, int a, int b);

// source - prediction.
void subtract(const uint8_t* source, const uint8_t* prediction, int area, int16_t* residual);

// Coefficients of a residual: min(32, height) rows of min(32, width).
void transform_forward(const int16_t* residual, int a, int b, int type, int16_t* coefficients);

// The residual of coefficients added to a prediction.
void transform_inverse(const int16_t* coefficients, int a, int b, int type,
                       const uint8_t* prediction, uint8_t* samples);

int64_t squared_difference(const uint8_t* x, const uint8_t* y, int area);

}  // namespace mmp
