// The elements that a redundancy radius and replacement compare. Source: section "Dictionary" of
// docs/format/format.md.
#pragma once

#include "shared/host_device.h"
#include "shared/integers.h"
#include "shared/trees/scales.h"

namespace mmp {

constexpr int kCellSize = 16;  // most elements of a cell; a new element is compared with these
constexpr int kCells = 256;
constexpr int kCellLevelsLog2 = 6;  // gray levels that fall into one step of a cell, as a logarithm
constexpr int kCellLevels = 1 << kCellLevelsLog2;
constexpr int kHandSteps = 64;  // elements that replacement tests for having never been used

// Cells look at the quarters of an element. A side of 1 sample is not halved (0), any other is (1).
MMP_HD constexpr int quarters_down(int scale) { return scale_height(scale) > 1; }
MMP_HD constexpr int quarters_across(int scale) { return scale_width(scale) > 1; }

// The digit of a cell's number from a quarter: the mean of its samples in steps of kCellLevels.
MMP_HD constexpr int quarter_level(int scale, int sum) {
    return sum >> (area_log2(scale) - quarters_down(scale) - quarters_across(scale) + kCellLevelsLog2);
}

// Whether the sums of two elements differ by too much (`gap`) for the radius: their squared error
// is at least gap^2 / area.
MMP_HD constexpr bool sums_too_far(int gap, int radius, int area) {
    return int64_t{gap} * gap > int64_t{radius} * area;
}

// The least difference of gray levels at which two constant elements are not redundant.
MMP_HD constexpr int constant_spacing(int radius, int area) {
    int spacing = 1;
    while (area * spacing * spacing <= radius) ++spacing;
    return spacing;
}

}  // namespace mmp
