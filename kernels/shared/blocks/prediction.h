// The arithmetic of intra prediction, sample by sample. Source: section "Prediction" of
// docs/format/format.md.
#pragma once

#include "shared/blocks/block.h"

namespace mmp {

// Least sum of height and width of blocks whose references are smoothed.
constexpr int kSmoothedFrom = 20;

// Slope of an angle: shift of the reference per row of the block, in 1/32 sample; per column for
// angles before kFirstVertical.
MMP_HD constexpr int angle_slope(int angle) {
    const int turn = angle < kFirstVertical ? kHorizontal - angle : angle - kVertical;
    const int size = turn < 0 ? -turn : turn;
    const int slope = size == 8 ? 32 : int(0x1A15110D09050200 >> (8 * size) & 0xFF);
    return turn < 0 ? -slope : slope;
}

// Index, from 1, of the side reference that is projected to place -k of the reference line.
MMP_HD constexpr int side_place(int k, int slope) { return (k * 32 + slope / 2) / slope; }

// Interpolation filter: weights, in 1/64, of four adjacent samples for a position f / 32 after the
// second.
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

// PDPC: weight, in 1/64, of a reference for a sample at this distance from it, from 0, in a block
// of 2^a x 2^b samples.
MMP_HD constexpr int blend_weight(int distance, int a, int b) {
    return 32 >> smaller(31, 2 * distance >> ((a + b - 2) >> 2));
}
// Distance from which blend_weight() is 0.
MMP_HD constexpr int blend_reach(int a, int b) { return 3 << ((a + b - 2) >> 2); }
// PDPC of angles: shift along the side references per sample along the main direction, in 1/512
// sample. `slope` is positive.
MMP_HD constexpr int inverse_slope(int slope) { return (16384 + slope / 2) / slope; }
MMP_HD constexpr int blend(int weight, int reference, int sample) {
    return (weight * reference + (64 - weight) * sample + 32) >> 6;
}

// Sample (i, j) of the planar mode. `corner_above` is the reference above at the block's width,
// `corner_left` the reference on the left at the block's height.
MMP_HD constexpr int planar_sample(int i, int j, int a, int b, int above, int left,
                                   int corner_above, int corner_left) {
    const int height = 1 << a, width = 1 << b;
    const int across = (width - 1 - j) * left + (j + 1) * corner_above;
    const int down = (height - 1 - i) * above + (i + 1) * corner_left;
    return (across * height + down * width + height * width) >> (a + b + 1);
}

// Modes from earlier planes (cross-component prediction).
constexpr int kPlanesReach = 4;     // rows above, columns left with training samples
constexpr int kMostRegressors = 7;  // six samples of earlier planes and a difference from the mean
constexpr int kPlanesDiagonal = 256, kFitScale = 256;
constexpr int kMostWeight = 16384;  // limit of a weight, in 1/4096
// Rounding can make the normal equations singular. These limits keep all products within 63 bits.
constexpr int64_t kMostValue = int64_t{1} << 32, kMostFactor = int64_t{1} << 30;
constexpr int kWideFromLog2 = 7;  // least area of a kWideCrossComponent block, as log2

MMP_HD constexpr int64_t limited(int64_t value, int64_t most) {
    return value < -most ? -most : value > most ? most : value;
}

// Covariance of `count` samples times kFitScale, in units of 8-bit samples. `products` is the sum
// of the products of both variables, `sum` and `other` are the sums of each.
MMP_HD constexpr int64_t covariance(int64_t products, int64_t sum, int64_t other, int64_t count,
                                    int extra) {
    return kFitScale * (count * products - sum * other) / (count << 2 * extra);
}

}  // namespace mmp
