// Kernel that finds the optimal segmentation tree of one fragment from its cost map.
#include "cuda/trees/search.cuh"
#include "cuda/trees/tree.cuh"

namespace mmp {

struct TreeOperation {
    Rates rates;
    uint8_t source[kFragmentArea];
    TreeSearchMemory search;
    TreeMemory tree;
};

}  // namespace mmp

using namespace mmp;

extern "C" __device__ uint32_t shared_bytes = sizeof(TreeOperation);

// Writes the number of nodes, and the nodes in coding order, from the keys of the search. `row`,
// `column`: first sample of the fragment; its neighbours are in the picture's leaf scales. One
// block of 1024 threads.
extern "C" __global__ void __launch_bounds__(kThreads)
    choose_tree(const State* state, const uint8_t* source, const uint64_t* keys, int row,
                int column, Node* nodes, uint32_t* node_count) {
    extern __shared__ __align__(16) uint8_t shared[];
    TreeOperation& memory = *reinterpret_cast<TreeOperation*>(shared);
    const Picture& picture = state->picture;
    memory.rates.start(picture);
    start_search(memory.search);
    start_tree(picture, state->flag_frequency, memory.tree);
    if (threadIdx.x < kFragmentArea) memory.source[threadIdx.x] = source[threadIdx.x];
    if (threadIdx.x < kFlagModels)
        price_flags(picture, memory.rates, memory.tree, threadIdx.x);
    keep_neighbour(fetch_neighbour(picture, row, column), memory.tree);
    __syncthreads();
    lay_out_segments(memory.source, memory.search);
    __syncthreads();
    measure_segments(memory.search.segments, memory.tree);
    __syncthreads();
    price_segments(picture, memory.tree);
    __syncthreads();
    choose_flags(keys, memory.tree);
    if (threadIdx.x < kFragmentArea)
        walk_tree(memory.tree, threadIdx.x / kFragmentSize, threadIdx.x % kFragmentSize);
    __syncthreads();
    const int count = memory.tree.nodes[0];
    for (int i = threadIdx.x; i < count; i += kThreads) nodes[i] = memory.tree.chosen[i];
    if (threadIdx.x == 0) *node_count = count;
}
