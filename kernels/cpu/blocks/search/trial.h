// The cost of coding a block with one mode, and its samples.
#pragma once

#include <stdint.h>

#include "cpu/blocks/coder.h"
#include "cpu/blocks/search/levels.h"
#include "cpu/runtime/distortion.h"
#include "shared/blocks/search.h"

namespace mmp {

// sqrt(lambda) in 1/256; it weighs bits against sums of absolute differences.
int32_t root_of(int64_t lambda_fixed);

// Copies the samples of a block from a plane of this width, row by row.
template <class Sample>
void take_block(const Sample* plane, int width, const BlockPlace& block, Sample* out);

template <class Sample>
struct Trial {
    int64_t cost = kNever;
    BlockNode node;
    Sample samples[kMaxBlockArea];
    int16_t levels[kMaxCoded];

    // Take the prediction alone, or with a residual, if it is cheaper. The given cost is that of
    // flag, mode and kind.
    void try_bare(const BlockPlace& block, const Sample* source, const Sample* prediction,
                  int mode, int64_t cost, const BlockCosts& costs);
    void try_residual(const BlockPlace& block, const Sample* source, const Sample* prediction,
                      int mode, int64_t cost, int32_t step, Depth<Sample> depth,
                      const BlockCosts& costs);
};

// An estimate of the cost of a prediction with or without residual: cosine transform, without the
// rounding of the inverse.
template <class Sample>
int64_t rough_cost(const BlockPlace& block, const Sample* source, const Sample* prediction,
                   int32_t step, Depth<Sample> depth, const BlockCosts& costs);

}  // namespace mmp
