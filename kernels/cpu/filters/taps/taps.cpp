#include "cpu/filters/taps/taps.h"

namespace mmp {

#ifdef MMP_X86
extern const TapKernel<int16_t> taps_avx2;
#endif
extern const TapKernel<int16_t> taps_generic;
extern const TapKernel<int32_t> taps_deep;

const std::vector<const TapKernel<int16_t>*>& tap_kernels() {
    static const std::vector<const TapKernel<int16_t>*> kernels{
#ifdef MMP_X86
        &taps_avx2,
#endif
        &taps_generic};
    return kernels;
}

template <>
const TapKernel<int16_t>& tap_kernel() {
    static const TapKernel<int16_t>& best = *[] {
        for (const auto* kernel : tap_kernels())
            if (kernel->supported()) return kernel;
        return &taps_generic;
    }();
    return best;
}

template <>
const TapKernel<int32_t>& tap_kernel() {
    return taps_deep;
}

}  // namespace mmp
