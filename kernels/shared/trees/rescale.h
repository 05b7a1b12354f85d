// Integer scale transform (resampling of a block to another scale). Source: section "Scale
// transform" of docs/format/format.md.
//
// It is separable: rows first, then columns. One pass over the rows serves all scales of one width.
#pragma once

#include "shared/integers.h"

#include "shared/trees/scales.h"

namespace mmp {

// Rounded mean of `1 << ratio_log2` samples at a distance of `step`.
MMP_HD uint8_t mean_of(const uint8_t* in, int step, int ratio_log2) {
    int sum = (1 << ratio_log2) >> 1;
    for (int i = 0; i < 1 << ratio_log2; ++i) sum += in[i * step];
    return static_cast<uint8_t>(sum >> ratio_log2);
}

// Linear interpolation of output sample i when a line grows from `from` to 1 << to_log2 samples:
// the two input samples, and the weight of the right one in 2^-to_log2.
struct GrowPosition {
    int left, right, weight;
};

MMP_HD constexpr GrowPosition grow_position(int i, int from, int to_log2) {
    const int position = i * (from - 1);
    const int left = position >> to_log2;
    return {left, left + 1 < from ? left + 1 : from - 1, position - (left << to_log2)};
}

// Linear interpolation between two samples, rounded half up.
MMP_HD uint8_t between(int left, int right, int weight, int to_log2) {
    return static_cast<uint8_t>(left +
                                ((weight * (right - left) + ((1 << to_log2) >> 1)) >> to_log2));
}

// Resizes `rows` rows, `stride` samples apart, from width 1 << from_log2 to 1 << to_log2.
MMP_HD void resize_rows(const uint8_t* in, int stride, int rows, int from_log2, uint8_t* out,
                        int to_log2) {
    for (int row = 0; row < rows; ++row, in += stride, out += 1 << to_log2) {
        for (int i = 0; i < 1 << to_log2; ++i) {
            if (to_log2 <= from_log2) {
                const int ratio_log2 = from_log2 - to_log2;
                out[i] = mean_of(in + (i << ratio_log2), 1, ratio_log2);
            } else {
                const GrowPosition p = grow_position(i, 1 << from_log2, to_log2);
                out[i] = between(in[p.left], in[p.right], p.weight, to_log2);
            }
        }
    }
}

// Resizes columns from height 1 << from_log2 to 1 << to_log2; rows are `width` samples long.
MMP_HD void resize_columns(const uint8_t* in, int width, int from_log2, uint8_t* out, int to_log2) {
    for (int i = 0; i < 1 << to_log2; ++i, out += width) {
        if (to_log2 <= from_log2) {
            const int ratio_log2 = from_log2 - to_log2;
            const uint8_t* first = in + (i << ratio_log2) * width;
            for (int column = 0; column < width; ++column)
                out[column] = mean_of(first + column, width, ratio_log2);
        } else {
            const GrowPosition p = grow_position(i, 1 << from_log2, to_log2);
            const uint8_t* left = in + p.left * width;
            const uint8_t* right = in + p.right * width;
            for (int column = 0; column < width; ++column)
                out[column] = between(left[column], right[column], p.weight, to_log2);
        }
    }
}

}  // namespace mmp
