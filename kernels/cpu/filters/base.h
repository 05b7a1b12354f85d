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

// Samples of a plane; rows from the top begin `stride` samples apart.
template <class Sample>
struct FilterPicture {
    const Sample* samples;
    int64_t height, width;
    Depth<Sample> depth;
    int64_t stride = width;

    const Sample* row(int64_t number) const { return samples + number * stride; }
};

// Rows first to last - 1.
struct RowRange {
    int64_t first, last;
};

// The first row of the blocks of the first row of a range.
constexpr int64_t first_block_row(RowRange range) { return range.first / kFilterBlock * kFilterBlock; }

// The last kHeld rows of a picture that were asked for, one after the other, with kMargin more columns
// on each side. Beyond the border, samples repeat the nearest ones inside.
template <class Value, class Sample>
class StackedRows {
public:
    static constexpr int kMargin = 48, kHeld = 13;

    StackedRows(const FilterPicture<Sample>& picture, int64_t first)
        : picture_(picture),
          stride_(picture.width + 2 * kMargin),
          first_(first),
          next_(first),
          lines_(kLines * stride_) {}

    MMP_INLINE void hold_up_to(int64_t row) {
        for (; next_ <= row; ++next_) {
            if (next_ - first_ == kLines) make_room();
            Value* line = &lines_[place_of(next_)];
            std::copy_n(picture_.row(inside(next_)), picture_.width, line);
            repeat_ends(line);
        }
    }
    // The samples of a row from column 0. Those of the other held rows can be read by stride.
    MMP_INLINE const Value* operator[](int64_t row) const { return &lines_[place_of(row)]; }
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
    static constexpr int kLines = 32, kKept = kHeld - 1;
    static_assert(2 * kKept <= kLines);

    MMP_INLINE ptrdiff_t place_of(int64_t row) const { return (row - first_) * stride_ + kMargin; }
    void make_room() {
        std::copy_n(lines_.end() - kKept * stride_, kKept * stride_, lines_.begin());
        first_ = next_ - kKept;
    }

    const FilterPicture<Sample> picture_;
    const ptrdiff_t stride_;
    int64_t first_, next_;  // the first row that is held, and the one after the last
    std::vector<Value> lines_;
};

}  // namespace mmp
