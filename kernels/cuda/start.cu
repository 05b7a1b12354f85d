// Dictionaries and models as they are at the start of a picture.
#include "learn.cuh"
#include "state.cuh"

using namespace mmp;

// Fills the dictionaries and models of each picture. Grid: (25, pictures).
extern "C" __global__ void __launch_bounds__(1024) start_pictures(State* states) {
    __shared__ LearnMemory memory;
    State& state = states[blockIdx.y];
    const int scale = blockIdx.x;
    if (threadIdx.x < kFlagContexts * kFlags) {
        const int flag = threadIdx.x % kFlags;
        state.flag_frequency[threadIdx.x / kFlags][scale][flag] =
            flag_allowed(scale, flag, state.picture.partition);
    }
    if (scale == 0)
        for (int i = threadIdx.x; i < kSegments; i += blockDim.x) state.key[i] = kNoKey;
    if (scale_reachable(scale, state.picture.partition))
        start_scale(state.picture, state.scales[scale], scale, memory);
}
