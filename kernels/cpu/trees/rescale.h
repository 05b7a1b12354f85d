// The scale transform of one segment to all scales of one width, for several SIMD levels. Source:
// section "Scale transform" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <array>

#include "shared/trees/scales.h"

namespace mmp {

// Number of samples after a block, and after each output, that vectors may access.
constexpr int kBeyond = 16;

// Output buffers of the scales of one width, by height number n, row-major; null: not needed.
using Targets = std::array<uint8_t*, kLevels>;

// Resizes a segment of `scale`, whose rows are kFragmentSize samples apart, to the scales of width
// number m.
void rescale(const uint8_t* block, int scale, int m, const Targets& targets);

}  // namespace mmp
