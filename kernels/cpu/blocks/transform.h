// Integer transforms of a residual, forward and inverse. Source: section "Transform" of
// docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cpu/runtime/depth.h"
#include "shared/blocks/partition.h"
#include "shared/blocks/transform.h"
#include "shared/tools.h"

namespace mmp {

template <class Sample>
constexpr int seen_bits(Depth<Sample> depth) { return smaller(depth.extra(), kMostSeenBits); }

// Writes source - prediction, shifted right by the bits that the forward transform drops.
template <class Sample>
void subtract(const Sample* source, const Sample* prediction, int area, Depth<Sample> depth,
              int16_t* residual);

// Types of the one-dimensional bases along columns and along rows: cosine (DCT-II) or sine
// (DST-VII).
struct Bases {
    int down = kCosine, across = kCosine;
};
// With border sines (implicit transform choice), the sine basis is used only along a side that has
// decoded samples before it, if there is one.
inline Bases bases_of(const BlockPlace& block, int type, const BlockTools& tools) {
    if (type != kSine) return {};
    if (!tools.border_sines || !(block.row || block.column)) return {kSine, kSine};
    return {block.row ? kSine : kCosine, block.column ? kSine : kCosine};
}

// Writes the min(32, height) x min(32, width) lowest coefficients of a residual with 8 + `extra`
// bits.
void transform_forward(const int16_t* residual, int a, int b, Bases bases, int extra,
                       int16_t* coefficients);

// The same for a block without a transform.
void skip_forward(const int16_t* residual, int a, int b, int extra, int16_t* coefficients);

void dequantise(const int16_t* levels, int count, int32_t step, int16_t* coefficients);

// Numbers of the first rows and columns of coefficients that hold all that are not 0; at least 1.
struct Extent {
    int rows, columns;
};
Extent extent_of(const int16_t* coefficients, int a, int b);

// Writes the sum of a prediction and the inverse transform of the coefficients. Rows of `out` are
// `stride` apart.
template <class Sample>
void transform_inverse(const int16_t* coefficients, Extent extent, int a, int b, Bases bases,
                       const Sample* prediction, Depth<Sample> depth, Sample* out,
                       ptrdiff_t stride);

// The same for a block without a transform: the coefficients are the residual, its last sample
// first.
template <class Sample>
void skip_inverse(const int16_t* coefficients, int a, int b, const Sample* prediction,
                  Depth<Sample> depth, Sample* out, ptrdiff_t stride);

}  // namespace mmp
