// Dependent quantisation: two quantisers and a state machine that selects one for each level.
// Source: section "Dependent quantisation" of docs/format/format.md.
#pragma once

#include "shared/blocks/transform.h"
#include "shared/tools.h"

namespace mmp {

constexpr int kQuantiserStates = 8;

MMP_HD constexpr int quantiser_of(int state) { return state & 1; }
// State transition: depends only on the parity of the level. After an even level, the states 0 to 7
// become 0, 5, 1, 6, 2, 4, 3 and 7: the digits of a number, which needs no memory.
MMP_HD constexpr int next_state(int state, int level) {
    return (0x73426150 >> 4 * state & 7) ^ (level & 1) << 1;
}

// Reconstructed magnitude of a level of magnitude `size`. The first quantiser has the even
// multiples of half a step, the second one the odd multiples and 0.
MMP_HD constexpr int32_t dependent_value(int32_t size, int quantiser, int32_t step) {
    const int64_t halves = size ? 2 * int64_t{size} - quantiser : 0;
    const int64_t magnitude = (halves * step + 2) >> 2;
    return magnitude > kMaxCoefficient ? kMaxCoefficient : int32_t(magnitude);
}

// Step of independent levels with about equal rate and distortion. Only encoders use it, and the
// choice of initial states of the models.
MMP_HD constexpr int32_t independent_step(int32_t step, bool dependent) {
    return dependent ? larger(step * 5 / 6, 1) : step;
}
MMP_HD constexpr int32_t independent_step(const BlockTools& tools) {
    return independent_step(tools.step, tools.dependent);
}

}  // namespace mmp
