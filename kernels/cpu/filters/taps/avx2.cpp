// AVX2: 16 products of 16-bit integers per instruction.
#include "cpu/filters/taps/vectors.h"

namespace mmp {

namespace {

bool supported() { return bool(__builtin_cpu_supports("avx2")); }

}  // namespace

extern const TapKernel<int16_t, uint8_t> taps_avx2_bytes;
const TapKernel<int16_t, uint8_t> taps_avx2_bytes = kernel_of<SixteenLanes, uint8_t>(supported);
extern const TapKernel<int16_t, uint16_t> taps_avx2_words;
const TapKernel<int16_t, uint16_t> taps_avx2_words = kernel_of<SixteenLanes, uint16_t>(supported);

}  // namespace mmp
