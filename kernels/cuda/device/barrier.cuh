// A barrier of CUDA blocks that run at once: a team of blocks or the whole grid.
#pragma once

#include "shared/integers.h"

namespace mmp {

// Waits until there have been `all` arrivals, the own one included. One thread of each block calls
// it and then sees what the other blocks have written. It sleeps for some nanoseconds between two
// reads.
template <unsigned int kNanoseconds = 0>
__device__ inline void arrive_and_wait(uint32_t* arrived, uint32_t all) {
    __threadfence();
    atomicAdd(arrived, 1u);
    const volatile uint32_t* now = arrived;
    // The number of arrivals may overflow 32 bits.
    while (static_cast<int32_t>(*now - all) < 0)
        if (kNanoseconds) __nanosleep(kNanoseconds);
    __threadfence();
}

}  // namespace mmp
