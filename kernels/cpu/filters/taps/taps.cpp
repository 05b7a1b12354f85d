#include "cpu/filters/taps/taps.h"

namespace mmp {

#ifdef MMP_X86
extern const TapKernel<int16_t, uint8_t> taps_avx512_bytes, taps_avx2_bytes;
extern const TapKernel<int16_t, uint16_t> taps_avx512_words, taps_avx2_words;
#endif
extern const TapKernel<int16_t, uint8_t> taps_generic_bytes;
extern const TapKernel<int16_t, uint16_t> taps_generic_words;
extern const TapKernel<int32_t, uint16_t> taps_deep;

template <>
const std::vector<const TapKernel<int16_t, uint8_t>*>& tap_kernels() {
    static const std::vector<const TapKernel<int16_t, uint8_t>*> kernels{
#ifdef MMP_X86
        &taps_avx512_bytes, &taps_avx2_bytes,
#endif
        &taps_generic_bytes};
    return kernels;
}

template <>
const std::vector<const TapKernel<int16_t, uint16_t>*>& tap_kernels() {
    static const std::vector<const TapKernel<int16_t, uint16_t>*> kernels{
#ifdef MMP_X86
        &taps_avx512_words, &taps_avx2_words,
#endif
        &taps_generic_words};
    return kernels;
}

namespace {

template <class Sample>
const TapKernel<int16_t, Sample>& best() {
    for (const auto* kernel : tap_kernels<Sample>())
        if (kernel->supported()) return *kernel;
    return *tap_kernels<Sample>().back();
}

}  // namespace

template <>
const TapKernel<int16_t, uint8_t>& tap_kernel() {
    static const auto& kernel = best<uint8_t>();
    return kernel;
}
template <>
const TapKernel<int16_t, uint16_t>& tap_kernel() {
    static const auto& kernel = best<uint16_t>();
    return kernel;
}
template <>
const TapKernel<int32_t, uint16_t>& tap_kernel() {
    return taps_deep;
}

}  // namespace mmp
