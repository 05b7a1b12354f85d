// Spin-wait barrier across CUDA blocks that are all resident: a team of blocks or the whole grid.
#pragma once

#include "shared/integers.h"

namespace mmp {

// The body of loops that wait for other threads.
__device__ inline void keep_waiting() {
#ifdef MMP_EMULATED  // by tests/support/emulated/device.h, where threads run in turn
    emulated::pause();
#endif
}

// Adds 1 to `arrived` and spins until it reaches `all`. One thread per block calls it; afterwards
// that thread sees everything the other blocks wrote before they arrived. It sleeps kNanoseconds
// between two reads.
template <unsigned int kNanoseconds = 0>
__device__ inline void arrive_and_wait(uint32_t* arrived, uint32_t all) {
    __threadfence();
    atomicAdd(arrived, 1u);
    const volatile uint32_t* now = arrived;
    // The signed difference stays correct when the counter wraps around.
    while (static_cast<int32_t>(*now - all) < 0) {
        if (kNanoseconds) __nanosleep(kNanoseconds);
        keep_waiting();
    }
    __threadfence();
}

}  // namespace mmp
