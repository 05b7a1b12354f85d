// The integer transforms of a residual, forward and inverse.
// Source: section "Transform" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include "cpu/runtime/depth.h"
#include "shared/blocks/partition.h"
#include "shared/blocks/transform.h"
#include "shared/tools.h"

namespace mmp {

// The most bits beyond 8 that a residual of the forward transform keeps, so that it fits 16 bits.
constexpr int kMostSeenBits = 7;
template <class Sample>
constexpr int seen_bits(Depth<Sample> depth) { return smaller(depth.extra(), kMostSeenBits); }

// Writes source - prediction without the low bits that the forward transform drops.
template <class Sample>
void subtract(const Sample* source, const Sample* prediction, int area, Depth<Sample> depth,
              int16_t* residual);

// The bases of the columns and of the rows of a block, cosines or sines.
struct Bases {
    int down = kCosine, across = kCosine;
};
// With border sines, sines are only along a side that has decoded samples before it, if one has.
inline Bases bases_of(const BlockPlace& block, int type, const BlockTools& tools) {
    if (type != kSine) return {};
    if (!tools.border_sines || !(block.row || block.column)) return {kSine, kSine};
    return {block.row ? kSine : kCosine, block.column ? kSine : kCosine};
}

// Writes min(32, height) rows of min(32, width) coefficients of a residual with 8 + `extra` bits.
void transform_forward(const int16_t* residual, int a, int b, Bases bases, int extra,
                       int16_t* coefficients);

// Writes the coefficients that levels stand for.
void dequantise(const int16_t* levels, int count, int32_t step, int16_t* coefficients);

// Writes the sum of a prediction and the residual that the coefficients stand for.
template <class Sample>
void transform_inverse(const int16_t* coefficients, int a, int b, Bases bases,
                       const Sample* prediction, Depth<Sample> depth, Sample* samples);

}  // namespace mmp
