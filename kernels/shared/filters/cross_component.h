// The filter of a plane by earlier planes.
// Source: section "Planes filter" of docs/format/format.md.
#pragma once

#include "shared/filters/base.h"

namespace mmp {

constexpr int kMostPlanes = 2;   // earlier planes that the filter can read
constexpr int kPlaneTaps = 12;   // of one plane
constexpr int kPlaneReach = 2;   // most rows and columns between a sample and a tap
constexpr TapOffset kPlaneOffsets[kPlaneTaps] = {{-2, 0}, {-1, -1}, {-1, 0}, {-1, 1},
                                                 {0, -2}, {0, -1},  {0, 1},  {0, 2},
                                                 {1, -1}, {1, 0},   {1, 1},  {2, 0}};

}  // namespace mmp
