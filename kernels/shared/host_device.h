// Marks functions, and tables of constants, that host and device compilers both build.
#pragma once

#ifdef __CUDACC__
#define MMP_HD __host__ __device__ inline
#define MMP_TABLE __constant__ constexpr
#else
#define MMP_HD inline
#define MMP_TABLE constexpr
#endif

// The same, inlined always.
#define MMP_HD_INLINE MMP_HD __attribute__((always_inline))

// Of functions for devices alone.
#define MMP_DEVICE_INLINE __device__ inline __attribute__((always_inline))
