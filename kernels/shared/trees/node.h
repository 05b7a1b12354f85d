// A node of a segmentation tree, packed into 32 bits for the transfer from device to host.
#pragma once

#include "shared/integers.h"

#include "shared/host_device.h"

namespace mmp {

// From bit 0: 16 bits index of a leaf's element, 5 bits scale, 2 bits flag, 3 bits context.
MMP_HD uint32_t pack_node(int scale, int flag, int context, uint32_t index) {
    return index | static_cast<uint32_t>(scale) << 16 | static_cast<uint32_t>(flag) << 21 |
           static_cast<uint32_t>(context) << 23;
}

MMP_HD uint32_t packed_index(uint32_t node) { return node & 0xFFFF; }
MMP_HD int packed_scale(uint32_t node) { return node >> 16 & 31; }
MMP_HD int packed_flag(uint32_t node) { return node >> 21 & 3; }
MMP_HD int packed_context(uint32_t node) { return node >> 23 & 7; }

}  // namespace mmp
