// A barrier for CUDA blocks that are all resident: a team of blocks or the whole grid.
#pragma once

#include "shared/integers.h"

namespace mmp {

// Adds 1 to `arrived` and waits until it reaches `all`. One thread of each block calls it;
// afterwards that thread sees what the other blocks wrote before they arrived. It sleeps for
// kNanoseconds between two reads.
template <unsigned int kNanoseconds = 0>
__device__ inline void arrive_and_wait(uint32_t* arrived, uint32_t all) {
    __threadfence();
    atomicAdd(arrived, 1u);
    const volatile uint32_t* now = arrived;
    // The signed difference stays right when the number of arrivals overflows 32 bits.
    while (static_cast<int32_t>(*now - all) < 0)
        if (kNanoseconds) __nanosleep(kNanoseconds);
    __threadfence();
}

}  // namespace mmp
