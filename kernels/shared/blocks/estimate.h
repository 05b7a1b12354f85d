// Rate estimate of a residual from levels that are rounded without rate-distortion optimisation.
// The weights were fitted on photographs, x-rays and textures; the estimate is within 9 percent of
// the rate of optimised levels.
#pragma once

#include "shared/blocks/search.h"

// LIMIT(limit, bits): a magnitude above `limit` adds `bits` / 16 bits to the rate.
#define MMP_LEVEL_LIMITS(LIMIT) \
    LIMIT(0, 48)                \
    LIMIT(1, 19)                \
    LIMIT(2, 10)                \
    LIMIT(4, 21)                \
    LIMIT(8, 38)                \
    LIMIT(16, 63)

namespace mmp {

// A coefficient of magnitude `size` has the level `(size * estimate_scale(step) + kEstimateRound)
// >> 16`, in unsigned 32-bit arithmetic.
constexpr int kEstimateRound = 18000;
MMP_HD constexpr uint32_t estimate_scale(int32_t step) {
    return (2u << 16) / uint32_t(larger(step, 2));
}

// Estimated rate in 1/16 bit: `count` levels are not 0, `end` is one more than the last scan
// position, and `bits` is the sum of the LIMIT bits of all levels.
MMP_HD int32_t estimated_bits(int count, int bits, int end) {
    constexpr int kStart = 5, kPerDoubling = 28, kPerZero = 3;
    if (!count) return 0;
    return kStart + bits + kPerDoubling * floor_log2(uint32_t(end)) + kPerZero * (end - count);
}
// Cost of a rate in 1/16 bit; `plain` is the cost of a bit.
MMP_HD constexpr int64_t estimated_rate(int32_t bits, int32_t plain) {
    return int64_t{bits} * plain >> 4;
}

// Largest estimated cost of a residual that is tried (early termination): `percent` above the least
// estimate of the block.
MMP_HD constexpr int64_t hopeless_cost(int64_t least, int percent) {
    return least + least / 100 * percent;
}

// Whether the parts of a square are not estimated (early termination), given the least cost of its
// error and of its rounded levels. No model counts, so that a device knows it before any block is
// coded: the mode costs kModeBits bits, the kind one.
MMP_HD constexpr bool is_cheap(int64_t least, int32_t plain, int settled) {
    return (kModeBits + 1) * int64_t{plain} + least < int64_t{settled} * plain;
}

}  // namespace mmp
