// The leaves of a plane as they are read on hosts and devices, for a device that rebuilds samples.
#pragma once

#include "shared/host_device.h"
#include "shared/integers.h"

namespace mmp {

// A leaf of the partition of a fragment.
struct Leaf {
    uint8_t row, column;  // of its first unit in the fragment
    uint8_t a, b, mode, kind, type, unused;
    uint32_t first, count;  // its coefficients that are not 0
};

// A coefficient: its place in the block, and its value.
MMP_HD constexpr uint32_t packed_coefficient(int place, int value) {
    return uint32_t(place) | uint32_t(value) << 16;
}

}  // namespace mmp
