// What the filters of a decoded plane share: the plane, and the rows that a filter reads around
// one.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <vector>

#include "cpu/runtime/depth.h"
#include "cpu/runtime/simd.h"
#include "shared/filters/blocks.h"

namespace mmp {

// Samples without padding, rows from the top.
template <class Sample>
struct FilterPicture {
    const Sample* samples;
    int64_t height, width;
    Depth<Sample> depth;
};

// Rows first to last - 1.
struct RowRange {
    int64_t first, last;
};

// The first row of the blocks of the first row of a range.
constexpr int64_t first_block_row(RowRange range) { return range.first / kFilterBlock * kFilterBlock; }

// Rows of a picture, of which kHeld lie one after the other from each held row on, with kMargin more
// columns on each side. Beyond the border, samples repeat the nearest ones inside.
template <class Value, class Sample>
class StackedRows {
public:
    static constexpr int kMargin = 48, kHeld = 16;
    static_assert((kHeld & (kHeld - 1)) == 0);

    StackedRows(const FilterPicture<Sample>& picture, int64_t first)
        : picture_(picture),
          stride_(picture.width + 2 * kMargin),
          next_(first),
          lines_(2 * kHeld * stride_) {}

    MMP_INLINE void hold_up_to(int64_t row) {
        for (; next_ <= row; ++next_) {
            Value* line = &lines_[place_of(next_)];
            const Sample* from = picture_.samples + inside(next_) * picture_.width;
            std::copy_n(from, picture_.width, line);
            repeat_ends(line);
            std::copy_n(line - kMargin, stride_, line - kMargin + kHeld * stride_);
        }
    }
    // The samples of a row from column 0.
    MMP_INLINE const Value* operator[](int64_t row) const { return &lines_[place_of(row)]; }
    // The same, where rows up to `reach` above and kHeld - reach - 1 below can be read by stride.
    MMP_INLINE const Value* around(int64_t row, int reach) const {
        return (*this)[row - reach] + reach * stride_;
    }
    MMP_INLINE int64_t inside(int64_t row) const {
        return std::clamp<int64_t>(row, 0, picture_.height - 1);
    }
    // Fills the margins of a line of values, from column 0, with those of its ends.
    template <class T>
    MMP_INLINE void repeat_ends(T* line) const {
        std::fill_n(line - kMargin, kMargin, line[0]);
        std::fill_n(line + picture_.width, kMargin, line[picture_.width - 1]);
    }
    MMP_INLINE ptrdiff_t stride() const { return stride_; }

private:
    MMP_INLINE ptrdiff_t place_of(int64_t row) const {
        return (row & (kHeld - 1)) * stride_ + kMargin;
    }

    const FilterPicture<Sample> picture_;
    const ptrdiff_t stride_;
    int64_t next_;
    std::vector<Value> lines_;
};

}  // namespace mmp
