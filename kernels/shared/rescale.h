// The integer scale transform. Source: section "Scale transform" of docs/format.md.
#pragma once

#include <stdint.h>

#include "scales.h"

namespace mmp {

// Brings one line of `from` samples to `to` samples; both are powers of two.
MMP_HD void resize_line(const uint8_t* in, int in_step, int from_log2, uint8_t* out, int out_step,
                        int to_log2) {
    const int from = 1 << from_log2, to = 1 << to_log2;
    if (to <= from) {
        const int ratio_log2 = from_log2 - to_log2, ratio = 1 << ratio_log2;
        for (int i = 0; i < to; ++i) {
            int sum = ratio >> 1;
            for (int j = 0; j < ratio; ++j) sum += in[((i << ratio_log2) + j) * in_step];
            out[i * out_step] = static_cast<uint8_t>(sum >> ratio_log2);
        }
        return;
    }
    for (int i = 0; i < to; ++i) {
        const int position = i * (from - 1);
        const int left = position >> to_log2;
        const int weight = position - (left << to_log2);
        const int right = left + 1 < from ? left + 1 : from - 1;
        const int low = in[left * in_step];
        const int step = in[right * in_step] - low;
        out[i * out_step] = static_cast<uint8_t>(low + ((weight * step + (to >> 1)) >> to_log2));
    }
}

// Brings a block, rows `stride` samples apart, to another scale: rows first, then columns.
MMP_HD void rescale(const uint8_t* block, int stride, int from, uint8_t* out, int to) {
    const int h0 = kFragmentLog2 - scale_n(from), w0 = kFragmentLog2 - scale_m(from);
    const int h1 = kFragmentLog2 - scale_n(to), w1 = kFragmentLog2 - scale_m(to);
    uint8_t wide[kFragmentArea];
    for (int row = 0; row < 1 << h0; ++row)
        resize_line(block + row * stride, 1, w0, wide + (row << w1), 1, w1);
    for (int column = 0; column < 1 << w1; ++column)
        resize_line(wide + column, 1 << w1, h0, out + column, 1 << w1, h1);
}

}  // namespace mmp
