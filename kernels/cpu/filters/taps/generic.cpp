// Any processor.
#include "cpu/filters/taps/vectors.h"

namespace mmp {

extern const TapKernel<int16_t> taps_generic;
const TapKernel<int16_t> taps_generic = kernel_of<EightLanes>([] { return true; });
extern const TapKernel<int32_t> taps_deep;
const TapKernel<int32_t> taps_deep = kernel_of<FourLanes>([] { return true; });

}  // namespace mmp
