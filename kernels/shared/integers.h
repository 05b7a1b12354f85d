// Fixed-width integer types, which NVRTC lacks, and small integer functions.
#pragma once

#include "shared/host_device.h"

#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

namespace mmp {

MMP_HD constexpr int smaller(int a, int b) { return a < b ? a : b; }
MMP_HD constexpr int larger(int a, int b) { return a > b ? a : b; }

// floor(log2(value)) of a positive integer.
MMP_HD int floor_log2(uint32_t value) {
#ifdef __CUDA_ARCH__
    return 31 - __clz(value);
#else
    return 31 - __builtin_clz(value);
#endif
}

}  // namespace mmp
