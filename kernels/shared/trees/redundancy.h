// Cells of elements, the distance bounds of the redundancy radius, and the limits of replacement.
// Source: section "Dictionary" of docs/format/format.md.
#pragma once

#include "shared/host_device.h"
#include "shared/integers.h"
#include "shared/trees/scales.h"

namespace mmp {

constexpr int kCellSize = 16;  // most elements of a cell that a new element is compared with
constexpr int kCells = 256;
constexpr int kCellLevelsLog2 = 6;  // a digit of a cell number spans 2^6 gray levels
constexpr int kCellLevels = 1 << kCellLevelsLog2;
constexpr int kHandSteps = 64;  // most elements that one replacement tests

// 1 if the cell number distinguishes the upper from the lower (left from right) half of an element;
// 0 for a side of 1 sample.
MMP_HD constexpr int quarters_down(int scale) { return scale_height(scale) > 1; }
MMP_HD constexpr int quarters_across(int scale) { return scale_width(scale) > 1; }

// Digit of a cell number: mean of a quarter, from the sum of its samples, in steps of
// 2^kCellLevelsLog2.
MMP_HD constexpr int quarter_level(int scale, int sum) {
    return sum >> (area_log2(scale) - quarters_down(scale) - quarters_across(scale) + kCellLevelsLog2);
}

// Whether the difference `gap` of their sums already puts two elements farther apart than the
// radius: their squared error is at least gap^2 / area.
MMP_HD constexpr bool sums_too_far(int gap, int radius, int area) {
    return int64_t{gap} * gap > int64_t{radius} * area;
}

// Least difference of gray levels at which two constant elements are not redundant.
MMP_HD constexpr int constant_spacing(int radius, int area) {
    int spacing = 1;
    while (area * spacing * spacing <= radius) ++spacing;
    return spacing;
}

}  // namespace mmp
