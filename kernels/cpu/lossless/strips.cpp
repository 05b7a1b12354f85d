#include "cpu/lossless/strips.h"

namespace mmp {

// The sums of a row and the fit of a group take so long that a call costs nothing, so they are
// compiled once for all coders.
#define MMP_STRIPS(...)                                                                        \
    template <> MMP_SIMD_LEVELS void Strips<__VA_ARGS__>::begin_row(int row) { sum_row(row); } \
    template <> MMP_SIMD_LEVELS void Strips<__VA_ARGS__>::fit_group(int group) { fit(group); }
MMP_STRIPS(int32_t, 8)
MMP_STRIPS(int32_t, 16)
MMP_STRIPS(int64_t, 8)
MMP_STRIPS(int64_t, 16)
MMP_STRIPS(int32_t, 32)
MMP_STRIPS(int64_t, 32)

}  // namespace mmp
