// The classes of elements. Source: section "Index" of docs/format/format.md.
#pragma once

#include "shared/host_device.h"
#include "shared/trees/scales.h"

namespace mmp {

// In order: scale of origin, never used and used; all samples at the middle level; displaced, never
// used and used.
constexpr int kZeroClass = 2 * kScales;
constexpr int kDisplacedClass = kZeroClass + 1;
constexpr int kClasses = kDisplacedClass + 2;

// The class that an element of class c moves to when it is used.
MMP_HD constexpr int used_class(int c) {
    if (c < kScales) return c + kScales;
    return c == kDisplacedClass ? c + 1 : c;
}

}  // namespace mmp
