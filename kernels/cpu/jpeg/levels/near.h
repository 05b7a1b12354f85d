// What the levels around a place say about its level.
// Source: section "Levels of a stripe", "Sizes", of docs/format/format.md.
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include <algorithm>

#include "cpu/jpeg/levels/block.h"
#include "cpu/jpeg/levels/fits.h"
#include "cpu/jpeg/levels/scales.h"
#include "cpu/jpeg/levels/tables.h"

namespace mmp::jpeg {

// Levels of a block beside a place, 0 where there is none and for the first level.
struct Beside {
    const bool west, east, north, south;

    MMP_INLINE explicit Beside(int k)
        : west((k & 7) && k != 1), east((k & 7) < 7), north((k >> 3) && k != 8), south(k < 56) {}

    // The sum of sizes in rows of frequencies, or in columns.
    MMP_INLINE int row(const int16_t* block, int k) const {
        return (west ? abs(block[k - 1]) : 0) + (east ? abs(block[k + 1]) : 0);
    }
    MMP_INLINE int column(const int16_t* block, int k) const {
        return (north ? abs(block[k - 8]) : 0) + (south ? abs(block[k + 8]) : 0);
    }
    MMP_INLINE int all(const int16_t* block, int k) const {
        return row(block, k) + column(block, k);
    }
};

// Sizes are those of levels; `own` are the levels of the block that are known, with zeros around.
struct Near {
    int u, v, k, z, end;                   // frequencies; places by rows and in the order of scans
    int from_above, from_left, continued;  // predictions from borders, in 1/4
    int left, above, above_left, above_right;
    int west, north, diagonal, far;  // in the block
    int blocks, block;               // weighted sums: around the block, in it
    int others, luma = 0;            // of the earlier components
    int before = 0;                  // of the second component, for the third
    int size_step;  // predicted size

    MMP_INLINE Near(const Around& around, const int16_t* own, const BorderRow& borders, int kind,
                    int place, int order, int last)
        : u(place & 7), v(place >> 3), k(place), z(order), end(last) {
        from_above = borders.from_above(k);
        from_left = borders.from_left(k);
        const int up = abs(from_above), side = abs(from_left);
        continued = u == 0                        ? from_left
                    : v == 0                      ? from_above
                    : up * (8 - v) > side * (8 - u) ? from_above
                                                  : from_left;
        left = abs(around.left[k]);
        above = abs(around.above[k]);
        above_left = abs(around.above_left[k]);
        above_right = abs(around.above_right[k]);
        blocks = 6 * (left + above) + 2 * (above_left + above_right);
        const Beside beside(k);
        const int16_t* here = own + k;
        west = beside.west ? abs(here[-1]) : 0;
        north = beside.north ? abs(here[-8]) : 0;
        diagonal = (u && v && k != 9 ? abs(here[-9]) : 0) + (v && u < 7 ? abs(here[-7]) : 0) +
                   (u && v < 7 ? abs(here[7]) : 0);
        far = (u > 1 && k != 2 ? abs(here[-2]) : 0) + (v > 1 && k != 16 ? abs(here[-16]) : 0);
        block = 4 * (west + north) + 3 * diagonal + 2 * far;
        if (kind) {
            for (int i = 0; i < around.lumas; ++i) luma += abs(around.luma[i][k]);
            luma = luma * 8 / around.lumas;
            if (around.before) before = abs(around.before[k]);
        }
        others = luma + 6 * before;
    }

    int left_to_end() const { return end - z; }
    int most_border() const { return std::max(abs(from_above), abs(from_left)); }

    // The inputs of the trained prediction of the size.
    MMP_INLINE void set_size_inputs(const Around& around, int first_difference, int kind,
                                    int16_t* inputs) const {
        const Beside beside(k);
        const int sizes[kSizeInputs] = {left,
                                        above,
                                        above_left,
                                        above_right,
                                        abs(around.left_left[k]),
                                        abs(around.above_above[k]),
                                        west,
                                        north,
                                        diagonal,
                                        far,
                                        abs(from_above),
                                        abs(from_left),
                                        left_to_end(),
                                        around.left_count + around.above_count,
                                        kind ? luma / 2 : blocks + block,
                                        around.before ? before : most_border(),
                                        0,
                                        end,
                                        beside.all(around.left, k) + beside.all(around.above, k),
                                        abs(first_difference)};
        for (int i = 0; i < kSizeInputs; ++i) inputs[i] = int16_t(logarithm(sizes[i]));
        inputs[16] = 64;
    }
    // The predicted logarithm of the size, in steps.
    MMP_INLINE void set_size_step(int predicted) {
        size_step = predicted < 0     ? 0
                    : predicted < 192 ? predicted >> 2
                                      : std::min(63, 48 + ((predicted - 192) >> 4));
    }
};

}  // namespace mmp::jpeg
