// Arithmetic of the post filter for one sample or block. Source: section "Post filter" of
// docs/format/format.md.
#pragma once

#include "shared/filters/blocks.h"

namespace mmp {

constexpr int kFilterClasses = 4;
constexpr int kFilterTaps = 6;
constexpr int kFilterReach = 2;  // most rows and columns between a sample and a tap

// The offset of one sample of each tap; the other sample of the tap lies at the opposite offset.
MMP_TABLE TapOffset kTapOffsets[kFilterTaps] = {{0, 1}, {0, 2}, {1, -1}, {1, 0}, {1, 1}, {2, 0}};

// The class of a block from the variations around it, across plus down: their means are below 2, 6
// and 16.
MMP_HD constexpr int filter_class(int around) {
    return (around >= 2 * kVariationWeights) + (around >= 6 * kVariationWeights) +
           (around >= 16 * kVariationWeights);
}

// Difference that a tap's weight multiplies; its magnitude is at most twice the largest sample.
MMP_HD constexpr int tap_difference(int x, int one, int opposite) { return one + opposite - 2 * x; }

}  // namespace mmp
