// The coded residual from the chosen tree, and from it the decoded samples.
#pragma once

#include "state.cuh"
#include "tree.cuh"

namespace mmp {

// The first 256 threads of the block rebuild a sample each.
__device__ inline void rebuild_fragment(const Picture& picture, const TreeMemory& memory, int row,
                                        int column, uint8_t* coded_out) {
    if (threadIdx.x >= kFragmentArea) return;
    const int y = threadIdx.x / kFragmentSize, x = threadIdx.x % kFragmentSize;
    Segment s{0, 0, 0};
    int address = 0;
    while (memory.flag[address] != kLeaf) {
        const int flag = memory.flag[address];
        s.scale = child_scale(s.scale, flag);
        s.k = y / scale_height(s.scale);
        s.l = x / scale_width(s.scale);
        address = segment_address(s.scale, s.k, s.l);
    }
    const uint32_t index = memory.chosen[memory.place[address] & 0xFFFF].index;
    const int height = scale_height(s.scale), width = scale_width(s.scale);
    const int sample = y % height * width + x % width;
    const uint8_t coded = picture.dictionaries[s.scale].samples[element_sample(s.scale, index, sample)];
    coded_out[threadIdx.x] = coded;
    const int64_t place = int64_t{row + y} * picture.padded_width + column + x;
    // The base profile predicts the middle level everywhere, so residual and sample are equal.
    picture.samples[place] = coded;
    picture.leaf_scales[place] = static_cast<int8_t>(s.scale);
}

}  // namespace mmp
