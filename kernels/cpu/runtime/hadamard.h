// Sums of absolute 4x4 Hadamard coefficients, as inline functions that each SIMD level compiles.
#pragma once

#include "cpu/runtime/simd.h"

namespace mmp {

// Largest depth in bits at which the sums below fit 16 bits.
constexpr int kShortSizes = 10;

// Replaces each pair of lanes Step apart by their sum and difference.
template <int Step, class Lanes>
MMP_INLINE Lanes butterfly(Lanes v) {
    Lanes sign;
    for (int lane = 0; lane < 16; ++lane) sign[lane] = lane & Step ? -1 : 1;
    return lanes_apart<Step>(v) + v * sign;
}

// Hadamard transform along groups of four adjacent lanes. Returns lanes whose total is the sum of
// the absolute coefficients. The last butterfly uses |x + y| + |x - y| = 2 max(|x|, |y|).
template <class Lanes>
MMP_INLINE Lanes sizes_along(Lanes v) {
    v = butterfly<2>(v);
    v = v < 0 ? -v : v;
    const Lanes other = lanes_apart<1>(v);
    return v > other ? v : other;
}

// Returns lanes whose total is the sum of absolute Hadamard coefficients of 4 rows of 4
// differences.
template <class Lanes>
MMP_INLINE Lanes hadamard_sizes_4(Lanes rows) {
    return sizes_along(butterfly<4>(butterfly<8>(rows)));
}

// hadamard_sizes_4() for 4 rows of 8 differences, two rows per argument.
template <class Lanes>
MMP_INLINE Lanes hadamard_sizes_8(Lanes upper, Lanes lower) {
    return sizes_along(butterfly<8>(upper + lower)) + sizes_along(butterfly<8>(upper - lower));
}

// hadamard_sizes_4() for 4 rows of 16 differences.
template <class Lanes>
MMP_INLINE Lanes hadamard_sizes_16(const Lanes (&r)[4]) {
    const Lanes u = r[0] + r[2], v = r[0] - r[2], m = r[1] + r[3], n = r[1] - r[3];
    return sizes_along(u + m) + sizes_along(u - m) + sizes_along(v + n) + sizes_along(v - n);
}

MMP_INLINE int32_t sum_of_lanes(const Ints8& lanes) {
    int32_t sum = 0;
    for (int lane = 0; lane < 8; ++lane) sum += lanes[lane];
    return sum;
}

}  // namespace mmp
