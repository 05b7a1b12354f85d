// Limits and shortcuts (early termination) of the encoder's search for blocks.
// mmpcodec/backends/block_efforts.py describes the fields and has their values for each effort.
#pragma once

#include "shared/blocks/partition.h"

#define MMP_BLOCK_EFFORT(FIELD) \
    FIELD(kept)                 \
    FIELD(tried)                \
    FIELD(rough)                \
    FIELD(slack)                \
    FIELD(split_bits)           \
    FIELD(elongation)           \
    FIELD(every_angle)          \
    FIELD(angles)               \
    FIELD(matching)             \
    FIELD(rounded)              \
    FIELD(hopeless)             \
    FIELD(trellised)            \
    FIELD(ternary)              \
    FIELD(inherited)            \
    FIELD(reserve)              \
    FIELD(again)                \
    FIELD(settled)              \
    FIELD(patience)

namespace mmp {

// Factor that makes every difference large enough; value of `hopeless` that no cost exceeds.
constexpr int kAlways = 1 << 20;

struct BlockEffort {
#define MMP_EFFORT_MEMBER(name) int32_t name;
    MMP_BLOCK_EFFORT(MMP_EFFORT_MEMBER)
#undef MMP_EFFORT_MEMBER
};

// Whether a block is too oblong for the rough search.
MMP_HD constexpr bool too_long(const BlockPlace& block, const BlockEffort& effort) {
    const int apart = block.a - block.b;
    return larger(apart, -apart) > effort.elongation;
}
// Whether the search may split a block this way. An oblong block that only the border of the
// picture creates may be split to become less oblong.
MMP_HD constexpr bool may_follow(const BlockPlace& block, int flag, const BlockEffort& effort) {
    if (!may_split(block, flag)) return false;
    return !too_long(part_of(block, flag, 0), effort) || splits_columns(flag) == (block.b > block.a);
}

}  // namespace mmp
