// Products of vectors of 16-bit numbers.
#pragma once

#include "shared/integers.h"

namespace mmp {

// Rounded dot product of vectors with strides `x_step` and `y_step`.
__device__ inline int32_t rounded_product(const int16_t* x, int x_step, const int16_t* y,
                                          int y_step, int length, int shift) {
    int32_t sum = 1 << (shift - 1);
#pragma unroll 4
    for (int k = 0; k < length; ++k) sum += int32_t{x[k * x_step]} * y[k * y_step];
    return sum >> shift;
}

}  // namespace mmp
