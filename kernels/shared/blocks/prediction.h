// The arithmetic of intra prediction, sample by sample. Source: section "Prediction" of
// docs/format/format.md.
#pragma once

#include "shared/blocks/block.h"

namespace mmp {

// References are smoothed for blocks whose height and width sum to at least this.
constexpr int kSmoothedFrom = 20;

// The slope of an angle: the shift of the reference from one row of a block to the next, in 1/32 of
// a sample. Angles before kFirstVertical shift from one column to the next.
MMP_HD constexpr int angle_slope(int angle) {
    const int turn = angle < kFirstVertical ? kHorizontal - angle : angle - kVertical;
    const int size = turn < 0 ? -turn : turn;
    const int slope = size == 8 ? 32 : int(0x1A15110D09050200 >> (8 * size) & 0xFF);
    return turn < 0 ? -slope : slope;
}

// The number, from 1, of the sample on the other side that stands at place -k of a line.
MMP_HD constexpr int side_place(int k, int slope) { return (k * 32 + slope / 2) / slope; }

// The weights, in 1/64, that interpolate four samples in a row at f / 32 after the second.
struct Taps {
    int weight[4];
};
MMP_HD constexpr Taps taps_of(int f) {
    const int first = (-1024 * f + 64 * f * f - f * f * f + 512) >> 10;
    const int second = (65536 - 160 * f * f + 3 * f * f * f + 512) >> 10;
    const int last = (-32 * f * f + f * f * f + 512) >> 10;
    return {{first, second, 64 - first - second - last, last}};
}

MMP_HD constexpr int smoothed(int before, int here, int after) {
    return (before + 2 * here + after + 2) >> 2;
}

// The weight, in 1/64, of a reference sample in a block of 2^a x 2^b samples that is blended with
// its references, by the distance from the reference, counted from 0.
MMP_HD constexpr int blend_weight(int distance, int a, int b) {
    return 32 >> smaller(31, 2 * distance >> ((a + b - 2) >> 2));
}
// The distance from which on the weight is 0.
MMP_HD constexpr int blend_reach(int a, int b) { return 3 << ((a + b - 2) >> 2); }
// The distance, in 1/512 of a sample, along the other side for each sample along an angle's own
// side. `slope` is above 0.
MMP_HD constexpr int inverse_slope(int slope) { return (16384 + slope / 2) / slope; }
MMP_HD constexpr int blend(int weight, int reference, int sample) {
    return (weight * reference + (64 - weight) * sample + 32) >> 6;
}

// Sample (i, j) of the planar mode; `corner_above` and `corner_left` are the references at the
// block's width and height.
MMP_HD constexpr int planar_sample(int i, int j, int a, int b, int above, int left,
                                   int corner_above, int corner_left) {
    const int height = 1 << a, width = 1 << b;
    const int across = (width - 1 - j) * left + (j + 1) * corner_above;
    const int down = (height - 1 - i) * above + (i + 1) * corner_left;
    return (across * height + down * width + height * width) >> (a + b + 1);
}

// The least-squares mode: neighbours left, above, above left, above right, second left, second
// above.
constexpr int kTaps = 6, kTerms = kTaps + 1;
constexpr int kFitReach = 6;       // rows and columns around a block that the fit uses
constexpr int kFittedFrom = 8;     // least row and column of a block that may use the mode
constexpr int kDiagonal = 60, kFitScale = 256;
constexpr int kMostWeight = 16384;  // in 1/4096
// Rounding can make the equations singular. These limits keep all products within 63 bits.
constexpr int64_t kMostValue = int64_t{1} << 32, kMostFactor = int64_t{1} << 30;

MMP_HD constexpr int64_t limited(int64_t value, int64_t most) {
    return value < -most ? -most : value > most ? most : value;
}

// The fitted difference of a sample from the middle level, in 1/16 of a sample's unit. `sum` is the
// sum of its neighbours' differences in that unit, with weights in 1/4096.
template <class Sum>
MMP_HD constexpr int fitted_value(Sum sum, int middle = 128) {
    const Sum value = (sum + 2048) >> 12, limit = 16 * middle;
    return int(value < -limit ? -limit : value > limit - 1 ? limit - 1 : value);
}
MMP_HD constexpr int fitted_sample(int value, int middle = 128) {
    return smaller(2 * middle - 1, ((value + 8) >> 4) + middle);
}

// The modes from earlier planes.
constexpr int kPlanesReach = 4;     // rows above and columns left of a block that the fit uses
constexpr int kMostRegressors = 7;  // six samples of the planes, and a distance
constexpr int kPlanesDiagonal = 256;
constexpr int kWideFromLog2 = 7;  // least area of a block in mode kWidePlanes, as a logarithm

// The sum of products of differences from the means, in units of 8-bit samples, times kFitScale.
// `products` and the sums are those of `count` samples.
MMP_HD constexpr int64_t covariance(int64_t products, int64_t sum, int64_t other, int64_t count,
                                    int extra) {
    return kFitScale * (count * products - sum * other) / (count << 2 * extra);
}

}  // namespace mmp
