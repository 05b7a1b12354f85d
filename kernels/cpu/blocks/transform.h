// The integer transforms of a residual, forward and inverse.
// Source: section "Transform" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include "cpu/runtime/depth.h"
#include "shared/blocks/transform.h"

namespace mmp {

// The bits beyond 8 of a residual that the forward transform sees; more do not fit 16-bit sums.
constexpr int kMostSeenBits = 7;
template <class Sample>
constexpr int seen_bits(Depth<Sample> depth) { return smaller(depth.extra(), kMostSeenBits); }

// source - prediction, as far as the forward transform sees it.
template <class Sample>
void subtract(const Sample* source, const Sample* prediction, int area, Depth<Sample> depth,
              int16_t* residual);

// Coefficients of a residual with `extra` bits beyond 8: min(32, height) rows of min(32, width).
void transform_forward(const int16_t* residual, int a, int b, int type, int extra,
                       int16_t* coefficients);

// Adds the residual of coefficients to a prediction.
template <class Sample>
void transform_inverse(const int16_t* coefficients, int a, int b, int type,
                       const Sample* prediction, Depth<Sample> depth, Sample* samples);

}  // namespace mmp
