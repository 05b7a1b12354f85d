// A barrier of blocks that run at once, a team of them or the whole grid.
#pragma once

#include "shared/integers.h"

namespace mmp {

// Waits until there have been `all` arrivals, its own among them; one thread of each block calls
// and sees what the others have written. It sleeps for some nanoseconds between two looks.
template <unsigned int kNanoseconds = 0>
__device__ inline void arrive_and_wait(uint32_t* arrived, uint32_t all) {
    __threadfence();
    atomicAdd(arrived, 1u);
    const volatile uint32_t* now = arrived;
    // The number of arrivals may be beyond 32 bits.
    while (static_cast<int32_t>(*now - all) < 0)
        if (kNanoseconds) __nanosleep(kNanoseconds);
    __threadfence();
}

}  // namespace mmp
