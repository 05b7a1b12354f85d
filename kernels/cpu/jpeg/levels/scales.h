// Logarithmic scales of the sizes of levels. Source: section "Levels of a stripe", "Scales", of
// docs/format/format.md.
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include <algorithm>
#include <bit>

#include "cpu/jpeg/picture.h"
#include "cpu/runtime/simd.h"

namespace mmp::jpeg {

constexpr int kScaled = 1024;  // sizes from here on count as the one before

struct Scales {
    int16_t logarithm[kScaled];  // 64 for each doubling of 1 + size, linear between doublings
    uint8_t coarse[kScaled];     // four steps for each doubling, at most 31
    Scales();
};
extern const Scales kScales;

// By the end of a block, for each place: the logarithm of the number of places up to the end.
struct RestLogarithms {
    int16_t of[kBlockLevels][kBlockLevels];
    RestLogarithms();
};
extern const RestLogarithms kRestLogarithms;

MMP_INLINE int logarithm(int size) { return kScales.logarithm[std::min(size, kScaled - 1)]; }
// The same by arithmetic, for vectors: the bits of a float count doublings, linear between them.
MMP_INLINE int logarithm_of_vector(int size) {
    const float number = float(std::min(size, kScaled - 1) + 1);
    return (std::bit_cast<int32_t>(number) >> 17) - (127 << 6);
}
MMP_INLINE int coarse(int size) { return kScales.coarse[std::min(size, kScaled - 1)]; }
MMP_INLINE int limited(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}
// 0, 1 or 2: zero, negative or positive.
MMP_INLINE uint32_t sign_of(int value) { return value > 0 ? 2 : value < 0 ? 1 : 0; }

}  // namespace mmp::jpeg
