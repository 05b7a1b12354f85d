// The border filter, a thread for each line across a border. -D MMP_SAMPLE chooses the type of a
// sample: uint8_t or uint16_t.
#include "shared/filters/border.h"

#ifndef MMP_SAMPLE
#define MMP_SAMPLE uint8_t
#endif

using namespace mmp;

// Filters across the borders before the columns `start`, `start` + `size`, ... of an area whose
// samples lie side by side, or before such rows. Grid: (groups of threads along a border, borders).
extern "C" __global__ void filter_borders(MMP_SAMPLE* samples, const uint8_t* fixed, int64_t height,
                                          int64_t width, int planes, int colours, int columns,
                                          int64_t start, int64_t size, int64_t step, int depth,
                                          int first) {
    const int64_t line = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (line >= (columns ? height : width)) return;
    const BorderPicture<MMP_SAMPLE> picture{samples, height, width, planes, colours, fixed};
    const BorderStrength strength(step, depth);
    const int64_t border = start + blockIdx.y * size;
    const int last = first + (1 << depth) - 1;
    const LinesAcross<MMP_SAMPLE> across(picture, strength, border, columns ? width : height,
                                         columns ? 1 : width, first, last);
    across.line(columns ? line * width : line);
}
