// Solves the equations of four strips side by side. Source: section "Weights" of
// docs/format/format.md.
#pragma once

#include <stdint.h>

#include "cpu/lossless/prediction.h"
#include "cpu/runtime/simd.h"

namespace mmp {

// Doubles hold integers here. The proof is that of Fit: each lane does the same steps in the same
// arithmetic. The caller lets floating point round to nearest.
class StripFits {
public:
    static constexpr int kStrips = 4;

    // m[i][j] holds the coefficients of the regressors i <= j, and m[i][count] the right side.
    alignas(32) int64_t m[kMostUnknowns][kMostUnknowns + 1][kStrips];

    // Finds the weights of `count` regressors for each strip.
    void solve_all(int count, int32_t (*weights)[kStrips]);

private:
    static constexpr int kSide = 4;  // columns that are reduced side by side

    MMP_INLINE Longs4 eliminate(int count);
    template <int Columns>
    MMP_INLINE void reduce(int r, int j);
    MMP_INLINE Longs4 substitute(int count, int32_t (*weights)[kStrips]);
    void solve_one(int count, int strip, int32_t (*weights)[kStrips]) const;
    MMP_INLINE Doubles4 row(int i, int j) const { return loaded<Doubles4>(rows_[i][j]); }

    alignas(32) double rows_[kMostUnknowns][kMostUnknowns + 1][kStrips];
    alignas(32) double inverses_[kMostUnknowns][kStrips];
};

}  // namespace mmp
