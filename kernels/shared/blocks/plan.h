// The plan of a fragment as a device sends it to the host: nodes in coding order, 16 bits each, and
// kMaxSide rows of kMaxSide levels. The levels of a block begin at the position of its first
// sample.
#pragma once

#include "shared/blocks/block.h"

namespace mmp {

// Most nodes of a plan: the tree of a 64x64 fragment that is split into 4x4 blocks.
constexpr int kPlanNodes = 2 * (kMaxBlockArea >> (2 * kUnitLog2)) - 1;

// Packed node, from bit 0: 3 bits flag, 6 bits mode, 1 bit kind, 2 bits transform type.
MMP_HD constexpr uint16_t pack_block(int flag, int mode, int kind, int type) {
    return uint16_t(flag | mode << 3 | kind << 9 | type << 10);
}
MMP_HD constexpr int flag_of(uint16_t node) { return node & 7; }
MMP_HD constexpr int mode_of(uint16_t node) { return node >> 3 & 63; }
MMP_HD constexpr int kind_of(uint16_t node) { return node >> 9 & 1; }
MMP_HD constexpr int type_of(uint16_t node) { return node >> 10 & 3; }

}  // namespace mmp
