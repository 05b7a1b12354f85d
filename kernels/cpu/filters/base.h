// What the filters of a decoded plane share: the plane, and the rows that a filter reads around
// one.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <vector>

#include "cpu/runtime/depth.h"
#include "cpu/runtime/simd.h"
#include "shared/filters/base.h"

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

// The last kHeld rows of a picture that were visited, in order, with kMargin more columns on each
// side. Beyond the border, samples repeat the nearest ones inside.
template <class Value, class Sample, int kHeld, int kMargin>
class HeldRows {
    static_assert((kHeld & (kHeld - 1)) == 0);

public:
    HeldRows(const FilterPicture<Sample>& picture, int64_t first)
        : picture_(picture),
          stride_(picture.width + 2 * kMargin),
          next_(std::max<int64_t>(first, 0)),
          lines_(kHeld * stride_) {}

    MMP_INLINE void hold_up_to(int64_t row) {
        for (; next_ <= inside(row); ++next_) {
            Value* line = &lines_[next_ % kHeld * stride_ + kMargin];
            std::copy_n(picture_.samples + next_ * picture_.width, picture_.width, line);
            repeat_ends(line);
        }
    }
    // The samples of a row from column 0.
    MMP_INLINE const Value* operator[](int64_t row) const {
        return &lines_[inside(row) % kHeld * stride_ + kMargin];
    }
    MMP_INLINE int64_t inside(int64_t row) const {
        return std::clamp<int64_t>(row, 0, picture_.height - 1);
    }
    // Fills the margins of a line of values, from column 0, with those of its ends.
    MMP_INLINE void repeat_ends(Value* line) const {
        std::fill_n(line - kMargin, kMargin, line[0]);
        std::fill_n(line + picture_.width, kMargin, line[picture_.width - 1]);
    }
    MMP_INLINE int64_t stride() const { return stride_; }

private:
    const FilterPicture<Sample> picture_;
    const int64_t stride_;
    int64_t next_;
    std::vector<Value> lines_;
};

}  // namespace mmp
