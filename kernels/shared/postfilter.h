// The post filter of one sample.
// Source: section "Post filter" of docs/format.md.
#pragma once

#include "shared/host_device.h"
#include "shared/integers.h"

namespace mmp {

constexpr int kFilterClasses = 4;
constexpr int kFilterTaps = 6;
constexpr int kFilterFractionBits = 7;
constexpr int kFilterReach = 2;    // rows and columns that a tap is away at most
constexpr int kActivityReach = 2;  // and a sample whose activity counts

// Activities around a sample from which the next class begins: 2, 6 and 16 a sample of 25.
constexpr int kFirstActivity = 50, kSecondActivity = 150, kThirdActivity = 400;

struct TapOffset {
    int row, column;
};

// A tap is this sample and the one opposite.
constexpr TapOffset kTapOffsets[kFilterTaps] = {{0, 1}, {0, 2}, {1, -1}, {1, 0}, {1, 1}, {2, 0}};

MMP_HD constexpr int magnitude(int value) { return value < 0 ? -value : value; }

// How far a sample is from the lines through its neighbours, 0 to 4 times the largest sample.
MMP_HD constexpr int activity(int x, int left, int right, int up, int down) {
    return magnitude(2 * x - left - right) + magnitude(2 * x - up - down);
}

// What the sum of the 25 activities around a sample, in units of 8-bit samples, chooses of the values
// of the four classes.
template <class T>
MMP_HD constexpr T by_activity(int around, T first, T second, T third, T fourth) {
    return around < kFirstActivity    ? first
           : around < kSecondActivity ? second
           : around < kThirdActivity  ? third
                                      : fourth;
}

MMP_HD constexpr int filter_class(int around) { return by_activity(around, 0, 1, 2, 3); }

// What a tap is weighted with, up to twice the largest sample either way.
MMP_HD constexpr int tap_difference(int x, int one, int opposite) { return one + opposite - 2 * x; }

// The sample from the weighted sum of its tap differences.
MMP_HD constexpr int filtered_sample(int x, int32_t weighted, int most) {
    constexpr int kHalf = 1 << (kFilterFractionBits - 1);
    const int y = x + ((weighted + kHalf) >> kFilterFractionBits);
    return y < 0 ? 0 : y > most ? most : y;
}

}  // namespace mmp
