// Filters of rows of blocks of 4x4 samples, with one kernel per SIMD level.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "shared/filters/cross_component.h"
#include "shared/filters/fixed.h"
#include "shared/filters/post.h"

namespace mmp {

constexpr int kTapGroup = 4;  // weights that are loaded at once

// The weight of each tap of a block. Samples, their differences and weights are held as a Value.
template <class Value, int Taps>
struct TapWeights {
    Value weights[(Taps + kTapGroup - 1) / kTapGroup * kTapGroup] = {};
};

// A fixed filter also has the largest difference of each tap.
template <class Value>
struct LimitedTaps {
    Value weights[kBankTaps] = {}, limits[kBankTaps] = {};
};

// The weights of the taps of each plane that the cross-component filter reads, then the negative
// sums of these weights.
template <class Value>
using PlaneTapWeights = TapWeights<Value, kMostPlanesRead * (kPlaneTaps + 1)>;

// A row of blocks: `x` is its first sample; the samples around the blocks can be read. Each block has
// the number of its form; a block whose form is nullptr is not filtered. There are numbers for whole
// vectors of blocks.
template <class Value, class Form>
struct TapRow {
    const Value* x;
    ptrdiff_t stride;
    const Form* const* forms;
    const int32_t* numbers;
    int64_t blocks;
};

// A row of blocks of the planes that the cross-component filter reads.
template <class Value>
struct PlaneTapRow {
    const Value* planes[kMostPlanesRead];
    int count;
    ptrdiff_t stride;
    const PlaneTapWeights<Value>& form;
};

// Where the filtered samples of a row of blocks go: the first of its four rows that are written, and
// the one after the last. `samples` is the place of row 0. Samples are 0 to `most`.
template <class Sample>
struct FilteredRows {
    Sample* samples;
    int64_t width;  // also the distance of rows
    int first, last;
    int most;

    // The rows of `range` among the four rows from `row` on of a plane.
    template <class Range>
    FilteredRows(Sample* plane, int64_t width, int64_t row, const Range& range, int most)
        : samples(plane + row * width),
          width(width),
          first(int(range.first > row ? range.first - row : 0)),
          last(int(range.last < row + kFilterBlock ? range.last - row : kFilterBlock)),
          most(most) {}
};

constexpr int kMostTapBlocks = 8;  // most blocks in a vector

// Number of blocks, in whole vectors.
constexpr int64_t held_blocks(int64_t blocks) {
    return (blocks + kMostTapBlocks - 1) / kMostTapBlocks * kMostTapBlocks;
}

template <class Value, class Sample>
struct TapKernel {
    using Fixed = LimitedTaps<Value>;
    using Post = TapWeights<Value, kFilterTaps>;

    bool (*supported)();
    void (*fixed)(const TapRow<Value, Fixed>& row, const FilteredRows<Sample>& out);
    void (*post)(const TapRow<Value, Post>& row, const FilteredRows<Sample>& out);
    // Filters the samples from `x` on, which can be those of `out`.
    void (*plane)(const PlaneTapRow<Value>& row, const Sample* x, int64_t x_stride,
                  const FilteredRows<Sample>& out);
    // Writes the weighted sums of whole vectors of blocks.
    void (*fixed_sums)(const TapRow<Value, Fixed>& row, int32_t* sums, int64_t sums_stride);
};

// The fastest kernel that this processor supports.
template <class Value, class Sample>
const TapKernel<Value, Sample>& tap_kernel();

// The kernels for 16 bits that are compiled into this build, fastest first; the processor may not
// support all.
template <class Sample>
const std::vector<const TapKernel<int16_t, Sample>*>& tap_kernels();

}  // namespace mmp
