// Delta step (delta quantisation step): the quantisation step of each fragment. Source: section
// "Delta step" of docs/format/format.md.
#pragma once

#include "shared/integers.h"

namespace mmp {

constexpr int kMostChange = 24;  // a change of 4 doubles the step
constexpr int kMostStep = 65535;

// Quantisation step of a fragment, from the step of its layer and the step change.
MMP_HD constexpr int32_t step_at(int32_t step, int change) {
    constexpr int64_t kFactors[4] = {16384, 19484, 23170, 27554};  // 2^(quarters / 4), in 1/2^14
    const int shift = 14 - (change >> 2);
    const int64_t scaled = (step * kFactors[change & 3] + (int64_t{1} << (shift - 1))) >> shift;
    return scaled < 1 ? 1 : scaled > kMostStep ? kMostStep : int32_t(scaled);
}

// Predicts the step change of a fragment from the changes of the fragments to the left, above, and
// above left.
MMP_HD constexpr int expected_change(int left, int above, int corner) {
    const int low = left < above ? left : above, high = left < above ? above : left;
    const int plane = left + above - corner;
    return plane < low ? low : plane > high ? high : plane;
}

}  // namespace mmp
