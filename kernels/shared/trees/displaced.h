// Which blocks of the decoded picture become displaced blocks. Source: section "Displaced blocks"
// of docs/format/format.md.
#pragma once

#include "shared/host_device.h"
#include "shared/trees/scales.h"

namespace mmp {

// Whether the dictionary of this scale learns displaced blocks.
MMP_HD constexpr bool takes_displaced(int scale) {
    return scale_height(scale) >= 4 && scale_width(scale) >= 4 && scale_area(scale) <= 128;
}

// Distance between displaced blocks along a side of `length` samples.
MMP_HD constexpr int displaced_step(int length, int displaced_blocks) {
    const int step = length >> displaced_blocks;
    return step ? step : 1;
}

// Whether the block of this scale whose first sample is at (row, column) is a displaced block.
MMP_HD constexpr bool is_displaced(int scale, int row, int column) {
    const bool aligned = row % scale_height(scale) == 0 && column % scale_width(scale) == 0;
    return row >= 0 && column >= 0 && !aligned;
}

}  // namespace mmp
