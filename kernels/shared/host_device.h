// Marks functions that host and device compilers both build.
#pragma once

#ifdef __CUDACC__
#define MMP_HD __host__ __device__ inline
#else
#define MMP_HD inline
#endif

// The same, inlined always.
#define MMP_HD_INLINE MMP_HD __attribute__((always_inline))
