// Intra prediction of a block from the decoded samples around it, by every mode up to the angles.
// Source: section "Prediction" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include "cpu/runtime/depth.h"
#include "shared/blocks/prediction.h"

namespace mmp {

// The decoded samples around a block: above it, left of it, and the corner.
template <class Sample>
struct References {
    static constexpr int kLength = 2 * kMaxSide;
    Wide<Sample> above[kLength], left[kLength], corner;

    // Writes the smoothed references.
    void smooth(int length, References& out) const;
};

// Writes the columns of a block as rows.
template <class Sample>
void transpose(const Sample* in, int height, int width, Sample* out);

// Predicts a block, row by row. `smooth` are the smoothed references; blocks whose height and width
// add up to less than kSmoothedFrom do not need them.
template <class Sample>
void predict_block(int mode, const References<Sample>& references,
                   const References<Sample>& smooth, int a, int b, Depth<Sample> depth,
                   Sample* out);

// Blends a prediction of predict_block() with the references beside the block (PDPC).
template <class Sample>
void blend_block(int mode, const References<Sample>& references, const References<Sample>& smooth,
                 int a, int b, Depth<Sample> depth, Sample* out);

}  // namespace mmp
