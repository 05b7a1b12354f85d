// Distortion between two blocks of samples, for several SIMD levels.
#pragma once

#include <stdint.h>

#include "cpu/runtime/depth.h"

namespace mmp {

// Returns half the sum of absolute Hadamard coefficients (SATD) over the 4x4 pieces of 2^a x 2^b
// samples.
template <class Sample>
int32_t hadamard_difference(const Sample* source, const Sample* prediction, int a, int b,
                            Depth<Sample> depth);

// Returns the sum of squared differences of `area` samples.
template <class Sample>
int64_t squared_difference(const Sample* x, const Sample* y, int area, Depth<Sample> depth);

}  // namespace mmp
