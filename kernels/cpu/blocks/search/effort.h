// The effort of the encoder's search for blocks. mmpcodec/backends/cpu_efforts.py describes the
// fields and has their values for each effort.
#pragma once

#define MMP_BLOCK_EFFORT(FIELD) \
    FIELD(surveyed)             \
    FIELD(tried)                \
    FIELD(rough)                \
    FIELD(slack)                \
    FIELD(split_bits)           \
    FIELD(elongation)           \
    FIELD(every_angle)          \
    FIELD(angles)               \
    FIELD(fitting)              \
    FIELD(matching)             \
    FIELD(rounded)              \
    FIELD(hopeless)

namespace mmp {

// A factor that no difference is too small for, and a value of `hopeless` that nothing exceeds.
constexpr int kAlways = 1 << 20;

struct BlockEffort {
#define MMP_EFFORT_MEMBER(name) int name;
    MMP_BLOCK_EFFORT(MMP_EFFORT_MEMBER)
#undef MMP_EFFORT_MEMBER
};

}  // namespace mmp
