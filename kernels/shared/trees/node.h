// A node of a segmentation tree in the 32 bits that a device sends to the host.
#pragma once

#include "shared/integers.h"

#include "shared/host_device.h"

namespace mmp {

// From bit 0: 16 bits for the index of a leaf's element, 5 for scale, 2 for flag, 3 for context.
MMP_HD uint32_t pack_node(int scale, int flag, int context, uint32_t index) {
    return index | static_cast<uint32_t>(scale) << 16 | static_cast<uint32_t>(flag) << 21 |
           static_cast<uint32_t>(context) << 23;
}

MMP_HD uint32_t packed_index(uint32_t node) { return node & 0xFFFF; }
MMP_HD int packed_scale(uint32_t node) { return node >> 16 & 31; }
MMP_HD int packed_flag(uint32_t node) { return node >> 21 & 3; }
MMP_HD int packed_context(uint32_t node) { return node >> 23 & 7; }

}  // namespace mmp
