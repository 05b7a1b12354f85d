// Learning by itself: insertion of given elements, and what a fragment teaches.
#include "learn.cuh"

using namespace mmp;

// Inserts `count` elements of one scale in order, each a row of `elements`, unless they are known
// or the dictionary is full; `origins` are the scales that they were made from. One block of 1024
// threads.
extern "C" __global__ void __launch_bounds__(kThreads)
    insert_elements(State* state, int scale, const uint8_t* elements, const uint8_t* origins,
                    uint32_t count) {
    __shared__ LearnMemory memory;
    const Picture& picture = state->picture;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, area = scale_area(scale);
    uint32_t size = static_cast<uint32_t>(state->learnt[scale]);
    if (threadIdx.x == 0) memory.models[scale] = state->scales[scale];
    for (uint32_t first = 0; first < count; first += kLearnWarps) {
        __syncthreads();
        const bool here = warp < kLearnWarps && first + warp < count;
        if (here) {
            uint8_t* samples = memory.element[warp];
            for (int i = lane; i < area; i += 32)
                samples[i] = elements[uint64_t{first + warp} * area + i];
            __syncwarp();
            const int c = first_class(picture, samples, area, origins[first + warp]);
            if (lane == 0) memory.element_class[warp] = static_cast<uint8_t>(c);
        }
        size = insert_batch(picture, scale, size, memory, here);
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    state->scales[scale] = memory.models[scale];
    state->learnt[scale] = state->learnt[scale] >> 32 << 32 | size;
}

// Counts the leaves of a fragment's tree, learns its split segments and prices the classes. Grid:
// 25 blocks of 1024 threads.
extern "C" __global__ void __launch_bounds__(kThreads)
    learn_fragment(State* state, const Node* nodes, uint32_t node_count, const uint8_t* residual) {
    __shared__ LearnMemory memory;
    __shared__ Rates rates;
    const int scale = blockIdx.x;
    const Picture& picture = state->picture;
    if (!scale_reachable(scale, picture.partition)) return;
    rates.start(picture);
    if (threadIdx.x < kFragmentArea) memory.coded[threadIdx.x] = residual[threadIdx.x];
    if (threadIdx.x == 0) memory.models[scale] = state->scales[scale];
    __syncthreads();
    const uint64_t learnt = state->learnt[scale];
    const uint32_t size = learn_scale(picture, scale, static_cast<uint32_t>(learnt), nodes,
                                      node_count, rates, memory, state->class_cost[scale]);
    __syncthreads();
    if (threadIdx.x > 0) return;
    state->scales[scale] = memory.models[scale];
    state->learnt[scale] = ((learnt >> 32) + 1) << 32 | size;
}
