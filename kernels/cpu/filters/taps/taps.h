// Weighted sums of tap differences of blocks of 4x4 samples, with one kernel per SIMD level.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "shared/filters/cross_component.h"
#include "shared/filters/fixed.h"
#include "shared/filters/post.h"

namespace mmp {

// The weight of each tap of a block. Samples, their differences and weights are held as a Value.
template <class Value, int Taps>
struct TapWeights {
    Value weights[Taps] = {};
};

// A fixed filter also has the largest difference of each tap, once for each column of a block.
template <class Value>
struct LimitedTaps : TapWeights<Value, kBankTaps> {
    Value limits[kBankTaps][kFilterBlock] = {};
};

// A row of blocks: `x` is its first sample; the samples around the blocks can be read. The weighted
// sums of a block whose form is nullptr are 0. There are forms and sums for whole vectors of blocks.
template <class Value, class Form>
struct TapRow {
    const Value* x;
    ptrdiff_t stride;
    const Form* const* forms;
    int64_t blocks;
    int32_t* sums;
    int64_t sums_stride;
};

constexpr int kMostTapBlocks = 4;  // most blocks in a vector

// Number of blocks, in whole vectors.
constexpr int64_t held_blocks(int64_t blocks) {
    return (blocks + kMostTapBlocks - 1) / kMostTapBlocks * kMostTapBlocks;
}

template <class Value>
struct TapKernel {
    template <class Form>
    using Weigh = void (*)(const TapRow<Value, Form>& row);

    bool (*supported)();
    Weigh<LimitedTaps<Value>> fixed;
    Weigh<TapWeights<Value, kFilterTaps>> post;
    Weigh<TapWeights<Value, kPlaneTaps>> plane;
};

// The fastest kernel that this processor supports.
template <class Value>
const TapKernel<Value>& tap_kernel();

// The kernels for 16 bits that are compiled into this build, fastest first; the processor may not
// support all.
const std::vector<const TapKernel<int16_t>*>& tap_kernels();

}  // namespace mmp
