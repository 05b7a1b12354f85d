#include "cpu/lossless/strips.h"

namespace mmp {

// Fitting a row takes so long that a call of it costs nothing, so it is compiled once for all
// coders.
#define MMP_STRIPS(...) \
    template <> MMP_SIMD_LEVELS void Strips<__VA_ARGS__>::begin_row(int row) { fit_row(row); }
MMP_STRIPS(int32_t, 8)
MMP_STRIPS(int32_t, 16)
MMP_STRIPS(int64_t, 8)
MMP_STRIPS(int64_t, 16)
MMP_STRIPS(int32_t, 32)
MMP_STRIPS(int64_t, 32)

}  // namespace mmp
