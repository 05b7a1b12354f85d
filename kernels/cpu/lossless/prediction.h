// Prediction of single samples with weights that are fitted to earlier samples around them.
// Source: section "Fitted prediction" of docs/format/format.md; after B. Meyer and P. Tischer,
// "Glicbawls: grey level image compression by adaptive weighted least squares", 2001.
#pragma once

#include <stdint.h>

#include <algorithm>

#include "cpu/lossless/sums.h"

namespace mmp {

constexpr int kWeightBits = 14;
constexpr int kMostWeight = 1 << (kWeightBits + 3);
constexpr int kFractionBits = 6;  // of a prediction

constexpr int kMostUnknowns = 39;

// What keeps the equations solvable, for samples of this many bits.
constexpr int64_t ridge_of(int bits) {
    return bits < 4 ? 256 : std::max(int64_t{256}, int64_t{3} << (2 * bits - 6));
}

// Solves the symmetric equations whose upper triangle is m; its last column is the right side. This
// is right for all values, and slow; Fit is for those that occur.
void solve(int64_t (*m)[kMostUnknowns + 1], int n, int32_t* weights);

}  // namespace mmp
