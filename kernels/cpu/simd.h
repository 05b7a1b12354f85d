// Vectors, and functions that are compiled for several levels of SIMD: one binary runs anywhere.
#pragma once

#include <stdint.h>

// The loader takes the best that the machine has.
#ifdef MMP_X86
#define MMP_SIMD_LEVELS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MMP_SIMD_LEVELS
#endif

// Into each of them.
#define MMP_INLINE inline __attribute__((always_inline))

namespace mmp {

typedef uint8_t Bytes16 __attribute__((vector_size(16)));
typedef uint16_t Words16 __attribute__((vector_size(32)));

// Lanes of a comparison, a byte each: 255 where it holds.
struct LaneMask {
    uint64_t halves[2];

    template <class Comparison>
    explicit MMP_INLINE LaneMask(const Comparison& comparison) {
        const Bytes16 bytes = __builtin_convertvector(comparison, Bytes16);
        __builtin_memcpy(halves, &bytes, sizeof halves);
    }
    // Lanes of a half where it holds.
    MMP_INLINE int count(int half) const { return __builtin_popcountll(halves[half]) / 8; }
};

}  // namespace mmp
