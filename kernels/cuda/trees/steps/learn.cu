// Kernels for single steps of learning: insertion of elements, learning from a fragment, hash
// tables.
#include "cuda/trees/learn.cuh"

namespace mmp {

struct LearnOperation {
    Rates rates;
    LearnMemory learn;
    ToolsMemory<true> tools;
};

}  // namespace mmp

using namespace mmp;

extern "C" __device__ uint32_t shared_bytes = sizeof(LearnOperation);

// Inserts `count` elements of one scale in order, each a row of `elements`, unless they are
// redundant or the dictionary is full; `origins` are their initial classes. One block of 1024
// threads.
extern "C" __global__ void __launch_bounds__(kThreads)
    insert_elements(State* state, int scale, const uint8_t* elements, const uint8_t* origins,
                    uint32_t count) {
    extern __shared__ __align__(16) uint8_t shared[];
    auto& memory = *reinterpret_cast<LearnOperation*>(shared);
    const Picture& picture = state->picture;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, area = scale_area(scale);
    uint32_t insertions = static_cast<uint32_t>(state->learnt[scale]);
    if (threadIdx.x == 0) memory.learn.models[scale] = state->scales[scale];
    for (uint32_t first = 0; first < count; first += kLearnWarps) {
        __syncthreads();
        const bool here = warp < kLearnWarps && first + warp < count;
        if (here) {
            uint8_t* samples = memory.learn.element[warp];
            for (int i = lane; i < area; i += 32)
                samples[i] = elements[uint64_t{first + warp} * area + i];
            __syncwarp();
            const int c = first_class(picture, samples, area, origins[first + warp]);
            if (lane == 0) memory.learn.element_class[warp] = static_cast<uint8_t>(c);
        }
        insertions =
            has_dictionary_tools(picture)
                ? insert_batch(picture, scale, insertions, memory.learn, memory.tools, here)
                : insert_batch(picture, scale, insertions, memory.learn, here);
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    state->scales[scale] = memory.learn.models[scale];
    state->learnt[scale] = state->learnt[scale] >> 32 << 32 | insertions;
}

// Learns from a fragment's tree: counts the leaves, inserts its split segments, and computes the
// costs of the classes. Grid: 25 blocks of 1024 threads.
extern "C" __global__ void __launch_bounds__(kThreads)
    learn_fragment(State* state, const Node* nodes, uint32_t node_count, const uint8_t* coded) {
    extern __shared__ __align__(16) uint8_t shared[];
    auto& memory = *reinterpret_cast<LearnOperation*>(shared);
    const int scale = blockIdx.x;
    const Picture& picture = state->picture;
    if (!scale_reachable(scale, picture.partition)) return;
    memory.rates.start(picture);
    if (threadIdx.x < kFragmentArea) memory.learn.coded[threadIdx.x] = coded[threadIdx.x];
    if (threadIdx.x == 0) memory.learn.models[scale] = state->scales[scale];
    __syncthreads();
    const uint64_t learnt = state->learnt[scale];
    const uint32_t before = static_cast<uint32_t>(learnt);
    const Chosen chosen{nodes, node_count};
    ToolsMemory<false> none;
    const uint32_t insertions =
        has_dictionary_tools(picture)
            ? learn_scale(picture, scale, before, chosen, memory.rates, memory.learn, memory.tools,
                          state->class_cost[scale])
            : learn_scale(picture, scale, before, chosen, memory.rates, memory.learn, none,
                          state->class_cost[scale]);
    __syncthreads();
    if (threadIdx.x > 0) return;
    state->scales[scale] = memory.learn.models[scale];
    state->learnt[scale] = ((learnt >> 32) + 1) << 32 | insertions;
}

// Rebuilds the hash table of each scale from its elements. Grid: 25 blocks of 1024 threads.
extern "C" __global__ void __launch_bounds__(kThreads) enter_elements(State* state) {
    const int scale = blockIdx.x;
    if (!scale_reachable(scale, state->picture.partition)) return;
    clean_table(state->picture, scale, dictionary_size(*state, scale), state->scales[scale]);
}
