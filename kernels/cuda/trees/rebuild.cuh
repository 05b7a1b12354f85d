// Reconstruction of a fragment from the elements of its leaves.
#pragma once

#include "cuda/trees/state.cuh"
#include "cuda/trees/tree.cuh"

namespace mmp {

// Returns the decoded sample (y, x) of a fragment; `leaf` covers it.
__device__ inline uint8_t rebuild_sample(const Picture& picture, const Leaf& leaf, int y, int x) {
    const int scale = leaf.scale, height = scale_height(scale), width = scale_width(scale);
    const auto* samples = reinterpret_cast<const uint8_t*>(picture.dictionaries[scale].samples);
    return samples[element_sample(scale, leaf.index, y % height * width + x % width)];
}

// Writes a decoded sample and the scale of its leaf to the picture.
__device__ inline void write_sample(const Picture& picture, const Leaf& leaf, int row, int column,
                                    uint8_t sample) {
    const int64_t place = int64_t{row} * picture.padded_width + column;
    picture.samples[place] = sample;
    picture.leaf_scales[place] = static_cast<int8_t>(leaf.scale);
}

}  // namespace mmp
