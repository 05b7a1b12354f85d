// Logarithmic scales of the sizes of levels. Source: section "Levels of a stripe", "Scales", of
// docs/format/format.md.
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include <algorithm>
#include <bit>

#include "cpu/runtime/simd.h"

namespace mmp::jpeg {

constexpr int kScaled = 1024;  // sizes from here on count as the one before

struct Scales {
    int16_t logarithm[kScaled];  // 64 times the natural logarithm of 1 + size, rounded
    uint8_t coarse[kScaled];     // four steps for each doubling, at most 31
    Scales();
};
extern const Scales kScales;

MMP_INLINE int logarithm(int size) { return kScales.logarithm[std::min(size, kScaled - 1)]; }
MMP_INLINE int coarse(int size) { return kScales.coarse[std::min(size, kScaled - 1)]; }
MMP_INLINE int limited(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}
// 0, 1 or 2: zero, negative or positive.
MMP_INLINE uint32_t sign_of(int value) { return value > 0 ? 2 : value < 0 ? 1 : 0; }

}  // namespace mmp::jpeg
