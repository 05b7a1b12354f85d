// What is known of a block before its levels: the blocks around it, and its borders.
// Source: section "Levels of a stripe", "Around a block", of docs/format/format.md.
#pragma once

#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "cpu/jpeg/levels/scales.h"
#include "cpu/jpeg/picture.h"

namespace mmp::jpeg {

// What the cosines of each frequency are at the border of a block, in 1/4096, and continued from
// the two samples at the border by their difference.
inline constexpr int kBorder[8] = {1448, 2048, 2048, 2048, 2048, 2048, 2048, 2048};
inline constexpr int kSlope[8] = {1448, 2162, 2446, 2754, 2896, 2711, 2122, 1168};

// A stripe of a component: rows of blocks that are coded without those above and below.
struct StripeComponent {
    StripeComponent(const Component& component, int first_row, int rows, int kind)
        : component(component),
          first_row(first_row),
          rows(rows),
          columns(component.columns),
          kind(kind),
          counts(size_t(rows) * columns),
          ends(counts.size()),
          differences(counts.size()) {}

    int16_t* block(int row, int column) const { return component.block(first_row + row, column); }

    const Component& component;
    const int first_row, rows, columns, kind;
    std::vector<uint8_t> counts;       // levels of a block but the first that are not 0
    std::vector<uint8_t> ends;         // place of the last one in the order of scans, or 0
    std::vector<int16_t> differences;  // of the first level and its prediction
};

// The blocks around one, by rows. Where there is none, another one or zeros take its place.
struct Around {
    const int16_t *left, *above, *above_left, *above_right, *left_left, *above_above;
    const int16_t* before = nullptr;  // of the second component, for the third
    const int16_t* luma[4];
    int lumas = 0;
    size_t place, luma_place = 0;
    bool has_left, has_above;
    int left_count, above_count, left_end, above_end;
    int hint = 0;  // levels that are not 0 of the earlier components

    Around(const std::vector<StripeComponent>& stripe, int number, int row, int column);
};

inline Around::Around(const std::vector<StripeComponent>& stripe, int number, int row,
                      int column) {
    static constexpr int16_t kNone[kBlockLevels] = {};
    const StripeComponent& own = stripe[number];
    const int columns = own.columns;
    place = size_t(row) * columns + column;
    has_left = column > 0;
    has_above = row > 0;
    const int16_t* here = own.block(row, column);
    const ptrdiff_t up = -ptrdiff_t{columns} * kBlockLevels, back = -kBlockLevels;
    left = has_left ? here + back : has_above ? here + up : kNone;
    above = has_above ? here + up : left;
    above_left = has_left && has_above ? here + up + back : has_above ? kNone : left;
    above_right = has_above ? (column + 1 < columns ? here + up - back : kNone) : left;
    left_left = column > 1 ? here + 2 * back : kNone;
    above_above = row > 1 ? here + 2 * up : kNone;
    const auto beside = [&](const std::vector<uint8_t>& of, int& at_left, int& at_above) {
        at_left = has_left ? of[place - 1] : has_above ? of[place - columns] : 0;
        at_above = has_above ? of[place - columns] : at_left;
    };
    beside(own.counts, left_count, above_count);
    beside(own.ends, left_end, above_end);
    if (!number) return;
    const StripeComponent& first = stripe[0];
    const int across = std::max(1, first.component.across / own.component.across);
    const int down = std::max(1, first.component.down / own.component.down);
    int counted = 0;
    for (int j = 0; j < std::min(down, 2); ++j)
        for (int i = 0; i < std::min(across, 2); ++i) {
            const int luma_row = std::min(row * down + j, first.rows - 1);
            const int luma_column = std::min(column * across + i, first.columns - 1);
            const size_t at = size_t(luma_row) * first.columns + luma_column;
            if (!lumas) luma_place = at;
            luma[lumas++] = first.block(luma_row, luma_column);
            counted += first.counts[at];
        }
    hint = counted / lumas;
    if (number == 2 && stripe[1].columns == columns && stripe[1].rows == own.rows) {
        before = stripe[1].block(row, column);
        hint = std::min(63, (hint + 3 * stripe[1].counts[place]) >> 2);
    }
}

// The borders of the blocks above and left of a block, less what its own levels explain so far.
// Values are samples, times 4096 and a factor.
struct Borders {
    int32_t above[8], left[8];  // by frequency along the border
    int32_t bottom[8] = {}, right[8] = {};

    MMP_INLINE void add(int place, int value, const int* basis) {
        const int u = place & 7, v = place >> 3;
        const int vertical = basis[v] * value, horizontal = basis[u] * value;
        above[u] -= vertical;
        left[v] -= horizontal;
        bottom[u] += v & 1 ? -vertical : vertical;
        right[v] += u & 1 ? -horizontal : horizontal;
    }
};

// The borders of a row of blocks. Predicts levels from them.
class BorderRow {
public:
    static constexpr int kMostValue = 32767;  // of a dequantised level

    BorderRow(const Component& component, const int* basis)
        : basis_(basis), bottoms_(size_t(component.columns) * 8) {
        for (int k = 0; k < kBlockLevels; ++k) {
            const int64_t step = std::max<int>(component.steps[k], 1);
            above_[k] = (int64_t{1} << 34) / (basis[k >> 3] * step);
            left_[k] = (int64_t{1} << 34) / (basis[k & 7] * step);
        }
    }
    MMP_INLINE void begin(int column, bool has_left, bool has_above) {
        for (int u = 0; u < 8; ++u) {
            own_.above[u] = has_above ? bottoms_[size_t(column) * 8 + u] : 0;
            own_.left[u] = has_left ? own_.right[u] : 0;
            own_.bottom[u] = 0;
        }
        std::fill_n(own_.right, 8, 0);
    }
    // `value` is the dequantised level at a place.
    MMP_INLINE void add(int place, int value) { own_.add(place, value, basis_); }
    MMP_INLINE void end(int column) {
        std::copy_n(own_.bottom, 8, &bottoms_[size_t(column) * 8]);
    }
    // The level at a place that continues the border, in 1/4, or 1/8 with a shift of 31.
    MMP_INLINE int from_above(int place, int shift = 32) const {
        return int(own_.above[place & 7] * above_[place] >> shift);
    }
    MMP_INLINE int from_left(int place, int shift = 32) const {
        return int(own_.left[place >> 3] * left_[place] >> shift);
    }

private:
    const int* const basis_;
    int64_t above_[kBlockLevels], left_[kBlockLevels];
    std::vector<int32_t> bottoms_;
    Borders own_;
};

}  // namespace mmp::jpeg
