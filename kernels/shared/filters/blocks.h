// Blocks of 4x4 samples that share a class, and how much the samples vary around them. Source:
// section "Fixed filters" of docs/format/format.md.
#pragma once

#include "shared/filters/base.h"

namespace mmp {

constexpr int kFilterBlock = 4;        // rows and columns of a block
constexpr int kVariationReach = 3;     // most rows and columns from a block to a variation
constexpr int kVariationDirections = 4;
constexpr int kVariationBits = 10;     // variations of deeper samples are shifted to this depth
constexpr int kVariationWeights = 49;  // the weights of the variations around a block, over 16

// The offsets of the directions: across, down, along a falling and along a rising diagonal.
MMP_TABLE TapOffset kVariationOffsets[kVariationDirections] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};

}  // namespace mmp
