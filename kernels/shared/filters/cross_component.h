// The filter of a plane by earlier planes (cross-component filter). Source: section
// "Cross-component filter" of docs/format/format.md.
#pragma once

#include "shared/filters/base.h"

namespace mmp {

constexpr int kMostPlanesRead = 2;  // most earlier planes that the filter reads
constexpr int kPlaneTaps = 12;   // taps per earlier plane
constexpr int kPlaneReach = 2;   // largest row or column offset of a tap
MMP_TABLE TapOffset kPlaneOffsets[kPlaneTaps] = {{-2, 0}, {-1, -1}, {-1, 0}, {-1, 1},
                                                 {0, -2}, {0, -1},  {0, 1},  {0, 2},
                                                 {1, -1}, {1, 0},   {1, 1},  {2, 0}};

}  // namespace mmp
