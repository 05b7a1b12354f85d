// RD cost and decoded samples of a block coded by one mode.
#pragma once

#include <stdint.h>

#include "cpu/blocks/coder.h"
#include "cpu/blocks/quantisation_matrix.h"
#include "cpu/blocks/search/cell_weights.h"
#include "cpu/blocks/search/levels.h"
#include "cpu/blocks/search/trellis.h"
#include "cpu/runtime/distortion.h"
#include "shared/blocks/effort.h"
#include "shared/blocks/estimate.h"
#include "shared/blocks/search.h"

namespace mmp {

// Copies the samples of a block, row by row, from a plane that is `width` samples wide.
template <class Sample>
void take_block(const Sample* plane, int width, const BlockPlace& block, Sample* out);

// Writes the coefficients of a residual for each transform type that the block allows; `squares` is
// the residual's sum of squares. Coefficients are divided by the quantisation matrix. Returns the
// weighted errors for the cosine transform.
template <class Sample>
WeightedErrors transform_residual(const BlockPlace& block, const Sample* source,
                                  const Sample* prediction, int64_t squares, int mode,
                                  const BlockTools& tools, Depth<Sample> depth,
                                  int16_t (*coefficients)[kMaxCoded]);

// Returns the estimated RD cost of a residual: rate of its levels plus energy that the levels do
// not represent. `energy` is weighed already.
int64_t estimated_cost(const int16_t* coefficients, int a, int b, int32_t step, int64_t energy,
                       int weight, const BlockCosts& costs);

template <class Sample>
struct Trial {
    int64_t cost = kNever;
    BlockNode node;
    Sample samples[kMaxBlockArea];
    int16_t levels[kMaxCoded];

    // try_bare tries the prediction without a residual, try_residual with one; each becomes the
    // best trial if it is cheaper. The argument `cost` covers the symbols up to the kind; `energy`
    // is the cost of the squared prediction error; `rest` comes from transform_residual(). `weight`
    // is that of the block, and counts with a quantisation matrix.
    void try_bare(const BlockPlace& block, const Sample* prediction, int mode, int64_t cost,
                  int64_t energy);
    void try_residual(const BlockPlace& block, const Sample* source, const Sample* prediction,
                      const int16_t* coefficients, int64_t rest, int weight, int mode, int type,
                      int64_t cost, const BlockTools& tools, Depth<Sample> depth,
                      const BlockCosts& costs);
};

// Estimated RD cost of a prediction after its mode and kind: without a residual, and with one; kNever
// if all levels of the residual are 0.
struct RoughCost {
    int64_t bare, transformed;
};

// Estimates the RD cost of a prediction from the cosine transform; it ignores the rounding of the
// inverse transform. Levels are chosen as for a smooth mode, or rounded
// if `rounded`. `strength` is the strength of the quantisation matrix, with which the weight of the
// block counts.
template <class Sample>
RoughCost rough_cost(const BlockPlace& block, const Sample* source, const Sample* prediction,
                   int32_t step, int strength, int weight, Depth<Sample> depth,
                   const BlockCosts& costs, bool rounded);

}  // namespace mmp
