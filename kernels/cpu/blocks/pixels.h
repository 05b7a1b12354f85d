// What is computed of whole blocks, for several levels of SIMD.
#pragma once

#include <stdint.h>

#include "shared/blocks/prediction.h"
#include "shared/blocks/transform.h"
#include "cpu/runtime/depth.h"

namespace mmp {

// Decoded samples around a block: above it (first at [0]), left of it, and the corner.
template <class Sample>
struct References {
    static constexpr int kLength = 2 * kMaxSide;
    Wide<Sample> above[kLength], left[kLength], corner;

    References smoothed(int length) const;
};

// Every mode up to the angles. `smooth` are the smoothed references, from kSmoothedFrom on.
template <class Sample>
void predict_block(int mode, const References<Sample>& references,
                   const References<Sample>& smooth, int a, int b, Depth<Sample> depth,
                   Sample* out);

// Sum of absolute Hadamard differences of 4x4 pieces.
template <class Sample>
int32_t hadamard_difference(const Sample* source, const Sample* prediction, int a, int b);

// The extra bits of a residual that the forward transform sees; more would not fit 16 bits.
constexpr int kMostSeenBits = 7;
template <class Sample>
constexpr int seen_bits(Depth<Sample> depth) { return smaller(depth.extra(), kMostSeenBits); }

// source - prediction, as far as the forward transform sees it.
template <class Sample>
void subtract(const Sample* source, const Sample* prediction, int area, Depth<Sample> depth,
              int16_t* residual);

// Coefficients of a residual with so many extra bits: min(32, height) rows of min(32, width).
void transform_forward(const int16_t* residual, int a, int b, int type, int extra,
                       int16_t* coefficients);

// The residual of coefficients added to a prediction.
template <class Sample>
void transform_inverse(const int16_t* coefficients, int a, int b, int type,
                       const Sample* prediction, Depth<Sample> depth, Sample* samples);

template <class Sample>
int64_t squared_difference(const Sample* x, const Sample* y, int area);

}  // namespace mmp
