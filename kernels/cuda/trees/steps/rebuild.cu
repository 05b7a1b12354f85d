// Kernel that reconstructs the samples of one fragment from its tree.
#include "cuda/trees/rebuild.cuh"

using namespace mmp;

// Writes the 16x16 samples of a tree, rows from the top. One block of 256 threads.
extern "C" __global__ void rebuild_samples(const State* state, const Node* nodes,
                                            uint32_t node_count, uint8_t* samples) {
    const int y = threadIdx.x / kFragmentSize, x = threadIdx.x % kFragmentSize;
    for (uint32_t i = 0; i < node_count; ++i) {
        const Node node = nodes[i];
        if (node.flag != kLeaf || y / scale_height(node.scale) != node.k ||
            x / scale_width(node.scale) != node.l)
            continue;
        samples[threadIdx.x] = rebuild_sample(state->picture, {node.scale, node.index}, y, x);
    }
}
