// What the redundancy radius and replacement look at. Source: section "Dictionary" of docs/format.md.
#pragma once

#include "shared/host_device.h"
#include "shared/integers.h"
#include "shared/trees/scales.h"

namespace mmp {

constexpr int kCellSize = 16;  // elements that a new one of their cell is compared with
constexpr int kCells = 256;
constexpr int kCellLevelsLog2 = 6;  // of gray levels that cells do not tell apart
constexpr int kCellLevels = 1 << kCellLevelsLog2;
constexpr int kHandSteps = 64;  // elements that replacement looks at

// The quarters of a scale's elements, halves where one side is 1: 1 where that side is halved.
MMP_HD constexpr int quarters_down(int scale) { return scale_height(scale) > 1; }
MMP_HD constexpr int quarters_across(int scale) { return scale_width(scale) > 1; }

// What a quarter of this sum adds to the number of the cell: its mean in steps of levels.
MMP_HD constexpr int quarter_level(int scale, int sum) {
    return sum >> (area_log2(scale) - quarters_down(scale) - quarters_across(scale) + kCellLevelsLog2);
}

// Whether elements whose sums differ so much cannot be within the radius: squared error is at least
// (difference of the sums)^2 / area.
MMP_HD constexpr bool sums_too_far(int gap, int radius, int area) {
    return int64_t{gap} * gap > int64_t{radius} * area;
}

// How many gray levels apart two constants of an area must be not to be within the radius.
MMP_HD constexpr int constant_spacing(int radius, int area) {
    int spacing = 1;
    while (area * spacing * spacing <= radius) ++spacing;
    return spacing;
}

}  // namespace mmp
