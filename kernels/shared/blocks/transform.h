// The integer transforms of blocks. Source: section "Transform" of docs/format/format.md.
#pragma once

#include "shared/blocks/block.h"

namespace mmp {

constexpr int kBasisBits = 12;        // fixed point: 4096 represents 1
constexpr int kCoefficientBits = 3;   // unit of coefficients: 1/8 of a sample's unit
// Most bits beyond 8 that a residual keeps in the forward transform, so that it fits 16 bits.
constexpr int kMostSeenBits = 7;
constexpr int kMaxCoefficient = 32767;
constexpr int kMaxLevel = 32767;

MMP_HD constexpr int32_t saturated(int32_t value) {
    return value > kMaxCoefficient    ? kMaxCoefficient
           : value < -kMaxCoefficient ? -kMaxCoefficient
                                      : value;
}

// Dequantised coefficient of a level; the step is in 1/16 of a sample's unit.
MMP_HD constexpr int32_t dequantised(int32_t level, int32_t step) {
    const int64_t magnitude = (int64_t{level < 0 ? -level : level} * step + 1) >> 1;
    const int32_t value = magnitude > kMaxCoefficient ? kMaxCoefficient : int32_t(magnitude);
    return level < 0 ? -value : value;
}

}  // namespace mmp
