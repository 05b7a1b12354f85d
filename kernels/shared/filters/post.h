// Arithmetic of the post filter for one sample. Source: section "Post filter" of
// docs/format/format.md.
#pragma once

#include "shared/filters/base.h"

namespace mmp {

constexpr int kFilterClasses = 4;
constexpr int kFilterTaps = 6;
constexpr int kFilterReach = 2;    // most rows and columns between a sample and a tap
constexpr int kActivityReach = 2;  // most rows and columns to a sample whose activity counts

// Class boundaries: sums of 25 activities, which correspond to means of 2, 6 and 16.
constexpr int kFirstActivity = 50, kSecondActivity = 150, kThirdActivity = 400;

// The offset of one sample of each tap; the other sample of the tap lies at the opposite offset.
constexpr TapOffset kTapOffsets[kFilterTaps] = {{0, 1}, {0, 2}, {1, -1}, {1, 0}, {1, 1}, {2, 0}};

// The activity of a sample: the magnitudes of its horizontal and vertical second differences,
// summed. It is at most 4 times the largest sample.
MMP_HD constexpr int activity(int x, int left, int right, int up, int down) {
    return magnitude(2 * x - left - right) + magnitude(2 * x - up - down);
}

// Selects one of four values by the class of a sample. `around` is the sum of the 25 activities
// around the sample, in units of 8-bit samples.
template <class T>
MMP_HD constexpr T by_activity(int around, T first, T second, T third, T fourth) {
    return around < kFirstActivity    ? first
           : around < kSecondActivity ? second
           : around < kThirdActivity  ? third
                                      : fourth;
}

MMP_HD constexpr int filter_class(int around) { return by_activity(around, 0, 1, 2, 3); }

// Difference that a tap's weight multiplies; its magnitude is at most twice the largest sample.
MMP_HD constexpr int tap_difference(int x, int one, int opposite) { return one + opposite - 2 * x; }

}  // namespace mmp
