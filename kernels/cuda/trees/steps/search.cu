// Search of one fragment as a kernel of its own: cost map and reduction.
#include "cuda/trees/search.cuh"

namespace mmp {

struct SearchOperation {
    uint8_t source[kFragmentArea];
    TreeSearchMemory search;
};

}  // namespace mmp

using namespace mmp;

extern "C" __device__ uint32_t shared_bytes = sizeof(SearchOperation);

// Lowers the keys of all segments, indexed by position in the cost map. The costs in the keys
// exclude the squared norms of the segments. Grid: any number of blocks of 1024 threads.
extern "C" __global__ void __launch_bounds__(kThreads)
    search_segments(const State* state, const uint8_t* source, uint64_t* keys) {
    extern __shared__ __align__(16) uint8_t shared[];
    SearchOperation& memory = *reinterpret_cast<SearchOperation*>(shared);
    start_search(memory.search);
    if (threadIdx.x < kFragmentArea) memory.source[threadIdx.x] = source[threadIdx.x];
    __syncthreads();
    lay_out_segments(memory.source, memory.search);
    if (threadIdx.x < 32) {
        const uint32_t size = threadIdx.x < kScales ? dictionary_size(*state, threadIdx.x) : 0;
        plan_search(memory.search, size, blockIdx.x, gridDim.x);
    }
    __syncthreads();
    search_fragment(state->picture, *state, memory.search, keys);
}
