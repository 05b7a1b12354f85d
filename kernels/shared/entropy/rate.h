// Rates in 2^-12 bit and Lagrangian costs in 1/16 squared error, all integers.
#pragma once

#include "shared/integers.h"

namespace mmp {

constexpr int kRateFractionBits = 12;
constexpr int kLambdaFractionBits = 16;
constexpr int kCostFractionBits = 4;
constexpr int kMaxTotal = 1 << 17;
constexpr int kLog2Entries = 2 * kMaxTotal;

// log2 of a positive integer below 2^31, in 2^-12 bit, rounded. Repeated squaring in 1.31 fixed
// point gives the same integers on every machine.
MMP_HD int32_t log2_rate(uint32_t value) {
    uint32_t result = floor_log2(value);
    uint64_t mantissa = static_cast<uint64_t>(value) << (31 - result);
    for (int bit = 0; bit <= kRateFractionBits; ++bit) {
        mantissa = (mantissa * mantissa) >> 31;
        const uint64_t above_two = mantissa >> 32;
        mantissa >>= above_two;
        result = (result << 1) | static_cast<uint32_t>(above_two);
    }
    return static_cast<int32_t>((result + 1) >> 1);
}

// lambda * R in 1/16 squared error, rounded half up; `rate` is in 2^-12 bit, `lambda_fixed` in
// 2^-16.
MMP_HD int64_t lagrangian(int64_t rate, int64_t lambda_fixed) {
    constexpr int shift = kLambdaFractionBits + kRateFractionBits - kCostFractionBits;
    return (lambda_fixed * rate + (int64_t{1} << (shift - 1))) >> shift;
}

}  // namespace mmp
