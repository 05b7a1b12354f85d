// The classes of elements. Source: section "Index" of docs/format/format.md.
#pragma once

#include "shared/host_device.h"
#include "shared/trees/scales.h"

namespace mmp {

// Classes of elements, in order: never used, by scale of origin (kScales classes); used, by scale
// of origin (kScales classes); elements whose samples are all kMidLevel; displaced blocks, never
// used and used.
constexpr int kZeroClass = 2 * kScales;
constexpr int kDisplacedClass = kZeroClass + 1;
constexpr int kClasses = kDisplacedClass + 2;

// Class of an element of class c after it is used.
MMP_HD constexpr int used_class(int c) {
    if (c < kScales) return c + kScales;
    return c == kDisplacedClass ? c + 1 : c;
}

}  // namespace mmp
