// Quantisation matrix: coarser steps for high frequencies, where the eye sees errors less. Source:
// section "Quantisation matrix" of docs/format/format.md.
#pragma once

#include "shared/blocks/transform.h"

namespace mmp {

constexpr int kFlatBits = 6, kFlat = 1 << kFlatBits;  // weight of frequency 0
constexpr int kMostStrength = 15;

// Weight of a frequency in 1/64; `radius` is floor(sqrt(u^2 + v^2)) of its row and column in 1/64 of
// the sides of the block.
MMP_HD constexpr int frequency_weight(int strength, int radius) {
    return kFlat + ((strength * radius + 1) >> 1);
}

// Magnitude of a coefficient after multiplication by its weight.
MMP_HD constexpr int32_t multiplied(int32_t size, int weight) {
    return smaller((size * weight + kFlat / 2) >> kFlatBits, kMaxCoefficient);
}

// Encoder only. Reciprocal of a weight in 1/65536, and the magnitude of a coefficient after division
// by a weight.
constexpr int kInverseWeightBits = 16;
MMP_HD constexpr uint32_t inverse_weight(int weight) {
    return uint32_t(((kFlat << kInverseWeightBits) + weight / 2) / weight);
}
MMP_HD constexpr int32_t divided(uint32_t size, uint32_t inverse) {
    return int32_t((size * inverse + (1u << kInverseWeightBits >> 1)) >> kInverseWeightBits);
}

// Encoder only. Weighted error of the coefficients that are not coded, in 1/64 squared error of
// 8-bit samples, from the energies of the residual and of its coded coefficients. `last` is the
// largest weight of a coded frequency.
MMP_HD constexpr int64_t uncoded_error(int64_t energy, int64_t coded, int64_t last) {
    return (energy > coded ? energy - coded : 0) * kFlat * kFlat / (last * last);
}

}  // namespace mmp
