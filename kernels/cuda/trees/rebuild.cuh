// The coded residual from the leaves' elements, and from it the decoded samples.
#pragma once

#include "cuda/trees/state.cuh"
#include "cuda/trees/tree.cuh"

namespace mmp {

// Sample (y, x) of the residual, whose leaf is known.
__device__ inline uint8_t rebuild_sample(const Picture& picture, const Leaf& leaf, int y, int x) {
    const int scale = leaf.scale, height = scale_height(scale), width = scale_width(scale);
    const auto* samples = reinterpret_cast<const uint8_t*>(picture.dictionaries[scale].samples);
    return samples[element_sample(scale, leaf.index, y % height * width + x % width)];
}

// The base profile predicts the middle level everywhere, so residual and sample are equal.
__device__ inline uint8_t decoded_sample(uint8_t coded) { return coded; }

// Writes the picture's sample and its leaf's scale.
__device__ inline void write_sample(const Picture& picture, const Leaf& leaf, int row, int column,
                                    uint8_t coded) {
    const int64_t place = int64_t{row} * picture.padded_width + column;
    picture.samples[place] = decoded_sample(coded);
    picture.leaf_scales[place] = static_cast<int8_t>(leaf.scale);
}

}  // namespace mmp
