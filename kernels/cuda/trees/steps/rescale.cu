// Kernel that resizes a block to every scale.
#include "cuda/trees/learn.cuh"

using namespace mmp;

// Resizes a block of scale `from`, with rows 16 samples apart, to each scale, at out + scale * 256.
// Grid: 25 blocks of one warp.
extern "C" __global__ void rescale_block(const uint8_t* block, int from, uint8_t* out) {
    __shared__ uint8_t in[kFragmentArea], wide[kFragmentArea], scaled[kFragmentArea];
    const int lane = threadIdx.x, to = blockIdx.x;
    for (int i = lane; i < kFragmentArea; i += 32) in[i] = block[i];
    __syncwarp();
    warp_rescale(in, from, to, wide, scaled);
    for (int i = lane; i < scale_area(to); i += 32) out[to * kFragmentArea + i] = scaled[i];
}
