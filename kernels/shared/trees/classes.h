// Classes of elements. Source: section "Index" of docs/format.md.
#pragma once

#include "shared/host_device.h"
#include "shared/trees/scales.h"

namespace mmp {

// By origin, never used and used; all samples at the middle level; displaced, never used and used.
constexpr int kZeroClass = 2 * kScales;
constexpr int kDisplacedClass = kZeroClass + 1;
constexpr int kClasses = kDisplacedClass + 2;

// The class of an element of this class once it was used.
MMP_HD constexpr int used_class(int c) {
    if (c < kScales) return c + kScales;
    return c == kDisplacedClass ? c + 1 : c;
}

}  // namespace mmp
