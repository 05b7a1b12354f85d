// The type of a sample: -D MMP_SAMPLE chooses uint8_t, for 8 bits, or uint16_t, for 9 to 16 bits.
#pragma once

#include "shared/integers.h"

#ifndef MMP_SAMPLE
#define MMP_SAMPLE uint8_t
#endif

namespace mmp {

using Sample = MMP_SAMPLE;
constexpr bool kDeep = sizeof(Sample) > 1;

template <bool kWide, class Usual, class Wide>
struct TypeByDepth {
    using Type = Usual;
};
template <class Usual, class Wide>
struct TypeByDepth<true, Usual, Wide> {
    using Type = Wide;
};
// Type for sums of a few samples with small weights, and of the cost of a coefficient.
using WideSample = TypeByDepth<kDeep, int16_t, int32_t>::Type;
using LevelCost = TypeByDepth<kDeep, int32_t, int64_t>::Type;

}  // namespace mmp
