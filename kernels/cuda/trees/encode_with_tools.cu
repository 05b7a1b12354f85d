// Kernel of the search for trees, with dictionary tools.
#include "cuda/trees/encode.cuh"

using namespace mmp;

extern "C" __device__ uint32_t shared_bytes = sizeof(EncodeMemory<true>);

// Grid: (blocks per picture, pictures); all blocks must be resident.
extern "C" __global__ void __launch_bounds__(kThreads)
    encode_fragments(State* states, int first, int last, int slot) {
    extern __shared__ __align__(16) uint8_t shared[];
    encode<true>(states, first, last, slot, shared);
}
