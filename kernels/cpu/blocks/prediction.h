// Intra prediction of a block from the decoded samples around it: all modes up to the angles.
// Source: section "Prediction" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include "cpu/runtime/depth.h"
#include "shared/blocks/prediction.h"

namespace mmp {

// References of a block: decoded samples above it, left of it, and the corner.
template <class Sample>
struct References {
    static constexpr int kLength = 2 * kMaxSide;
    Wide<Sample> above[kLength], left[kLength], corner;

    // Writes the references after smoothing.
    void smooth(int length, References& out) const;
};

template <class Sample>
void transpose(const Sample* in, int height, int width, Sample* out);

// Whether a mode reads the smoothed references.
inline bool uses_smooth(int mode, int a, int b) {
    if ((1 << a) + (1 << b) < kSmoothedFrom || mode == kConstant) return false;
    const int angle = angle_of(mode);
    return angle != kHorizontal && angle != kVertical;
}

// Predicts a block, row by row. `smooth` holds the smoothed references; it is not read if height
// plus width of the block is less than kSmoothedFrom.
template <class Sample>
void predict_block(int mode, const References<Sample>& references,
                   const References<Sample>& smooth, int a, int b, Depth<Sample> depth,
                   Sample* out);

// Blends the result of predict_block() with the references beside the block (PDPC).
template <class Sample>
void blend_block(int mode, const References<Sample>& references, const References<Sample>& smooth,
                 int a, int b, Depth<Sample> depth, Sample* out);

}  // namespace mmp
