// Which blocks are displaced blocks. Source: section "Displaced blocks" of docs/format.md.
#pragma once

#include "shared/host_device.h"
#include "shared/trees/scales.h"

namespace mmp {

// Whether a dictionary of this scale takes them.
MMP_HD constexpr bool takes_displaced(int scale) {
    return scale_height(scale) >= 4 && scale_width(scale) >= 4 && scale_area(scale) <= 128;
}

// How far apart they are along a side of this length.
MMP_HD constexpr int displaced_step(int length, int displaced_blocks) {
    const int step = length >> displaced_blocks;
    return step ? step : 1;
}

// Whether the block of this scale whose first sample lies here is one.
MMP_HD constexpr bool is_displaced(int scale, int row, int column) {
    const bool aligned = row % scale_height(scale) == 0 && column % scale_width(scale) == 0;
    return row >= 0 && column >= 0 && !aligned;
}

}  // namespace mmp
