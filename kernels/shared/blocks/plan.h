// The plan of a fragment that a device sends to the host: the nodes in coding order, 16 bits each,
// and kMaxSide rows of kMaxSide levels. A block's levels begin at its first sample.
#pragma once

#include "shared/blocks/block.h"

namespace mmp {

// The most nodes of a plan: a fragment of 64x64 samples in 4x4 blocks.
constexpr int kPlanNodes = 2 * (kMaxBlockArea >> (2 * kUnitLog2)) - 1;

// A node holds, from bit 0, 2 bits of flag, 6 of mode, 1 of kind and 1 of transform type.
MMP_HD constexpr uint16_t pack_block(int flag, int mode, int kind, int type) {
    return uint16_t(flag | mode << 2 | kind << 8 | type << 9);
}
MMP_HD constexpr int flag_of(uint16_t node) { return node & 3; }
MMP_HD constexpr int mode_of(uint16_t node) { return node >> 2 & 63; }
MMP_HD constexpr int kind_of(uint16_t node) { return node >> 8 & 1; }
MMP_HD constexpr int type_of(uint16_t node) { return node >> 9 & 1; }

}  // namespace mmp
