// Any processor.
#include "cpu/filters/taps/vectors.h"

namespace mmp {

namespace {

bool supported() { return true; }

}  // namespace

extern const TapKernel<int16_t, uint8_t> taps_generic_bytes;
const TapKernel<int16_t, uint8_t> taps_generic_bytes = kernel_of<EightLanes, uint8_t>(supported);
extern const TapKernel<int16_t, uint16_t> taps_generic_words;
const TapKernel<int16_t, uint16_t> taps_generic_words = kernel_of<EightLanes, uint16_t>(supported);
extern const TapKernel<int32_t, uint16_t> taps_deep;
const TapKernel<int32_t, uint16_t> taps_deep = kernel_of<FourLanes, uint16_t>(supported);

}  // namespace mmp
