// AVX2: 16 products of 16-bit integers per instruction.
#include "cpu/filters/taps/vectors.h"

namespace mmp {

extern const TapKernel<int16_t> taps_avx2;
const TapKernel<int16_t> taps_avx2 =
    kernel_of<SixteenLanes>([] { return bool(__builtin_cpu_supports("avx2")); });

}  // namespace mmp
