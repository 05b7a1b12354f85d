// The scale transform of one segment to all scales of one width, for several levels of SIMD.
// Source: section "Scale transform" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <array>

#include "shared/trees/scales.h"

namespace mmp {

// Samples that may lie behind a block, and behind what is written: vectors reach that far.
constexpr int kBeyond = 16;

// Where the samples of each scale of one width go, by n, row by row; null for none.
using Targets = std::array<uint8_t*, kLevels>;

// Resizes a segment of a scale, whose rows are kFragmentSize samples apart, to scales of width
// number m.
void rescale(const uint8_t* block, int scale, int m, const Targets& targets);

}  // namespace mmp
