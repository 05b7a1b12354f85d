// Kernel that initialises the dictionaries and models of pictures.
#include "cuda/trees/learn.cuh"
#include "cuda/trees/state.cuh"

using namespace mmp;

// Initialises the dictionaries and models of each picture. Grid: (25, pictures).
extern "C" __global__ void __launch_bounds__(kThreads) start_pictures(State* states) {
    __shared__ LearnMemory memory;
    __shared__ Rates rates;
    State& state = states[blockIdx.y];
    const int scale = blockIdx.x;
    const bool reachable = scale_reachable(scale, state.picture.partition);
    if (threadIdx.x < kFlagContexts * kFlags) {
        const int flag = threadIdx.x % kFlags;
        state.flag_frequency[threadIdx.x / kFlags][scale][flag] =
            flag_allowed(scale, flag, state.picture.partition);
    }
    if (scale == 0)
        for (int i = threadIdx.x; i < 2 * kSegments; i += kThreads) (&state.key[0][0])[i] = kNoKey;
    if (threadIdx.x == 0) state.learnt[scale] = 0;
    if (!reachable) return;
    rates.start(state.picture);
    const uint32_t size =
        start_scale(state.picture, scale, rates, memory, state.class_cost[scale]);
    if (threadIdx.x > 0) return;
    state.scales[scale] = memory.models[scale];
    state.learnt[scale] = size;
}
