// Dependent quantisation: two quantisers, and the states that choose between them.
// Source: section "Dependent quantisation" of docs/format/format.md.
#pragma once

#include "shared/blocks/transform.h"
#include "shared/tools.h"

namespace mmp {

constexpr int kQuantiserStates = 8;

MMP_HD constexpr int quantiser_of(int state) { return state & 1; }
// The state after a level, of which only the parity counts.
MMP_HD constexpr int next_state(int state, int level) {
    constexpr int kAfterEven[kQuantiserStates] = {0, 5, 1, 6, 2, 4, 3, 7};
    return kAfterEven[state] ^ (level & 1) << 1;
}

// The magnitude of the coefficient that a magnitude of a level stands for: the first quantiser has
// the even multiples of half a step, the second one the odd multiples and 0.
MMP_HD constexpr int32_t dependent_value(int32_t size, int quantiser, int32_t step) {
    const int64_t halves = size ? 2 * int64_t{size} - quantiser : 0;
    const int64_t magnitude = (halves * step + 2) >> 2;
    return magnitude > kMaxCoefficient ? kMaxCoefficient : int32_t(magnitude);
}

// Encoder only, but for the start of the models: the step of independent levels of about the same
// rate and distortion.
MMP_HD constexpr int32_t independent_step(int32_t step, bool dependent) {
    return dependent ? larger(step * 5 / 6, 1) : step;
}
MMP_HD constexpr int32_t independent_step(const BlockTools& tools) {
    return independent_step(tools.step, tools.dependent);
}

}  // namespace mmp
