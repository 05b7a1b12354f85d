// Which blocks of the decoded picture leaves can copy. Source: section "Copies" of
// docs/format/format.md.
#pragma once

#include "shared/host_device.h"
#include "shared/trees/scales.h"

namespace mmp {

// Whether leaves of this scale can be copies.
MMP_HD constexpr bool takes_displaced(int scale) {
    return scale_height(scale) >= 4 && scale_width(scale) >= 4 && scale_area(scale) <= 128;
}

// Distance between the places of copies along a side of `length` samples.
MMP_HD constexpr int displaced_step(int length, int displaced_blocks) {
    const int step = length >> displaced_blocks;
    return step ? step : 1;
}

}  // namespace mmp
