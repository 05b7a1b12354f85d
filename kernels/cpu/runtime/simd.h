// Vector types, and a macro that compiles a function for several levels of SIMD, so that one binary
// runs on any machine.
#pragma once

#include <stdint.h>
#include <string.h>

// The loader chooses the best level that the machine has.
#ifdef MMP_X86
#define MMP_SIMD_LEVELS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MMP_SIMD_LEVELS
#endif

// Inlines a function into each level.
#define MMP_INLINE inline __attribute__((always_inline))

namespace mmp {

typedef uint8_t Bytes4 __attribute__((vector_size(4)));
typedef uint8_t Bytes8 __attribute__((vector_size(8)));
typedef uint8_t Bytes16 __attribute__((vector_size(16)));
typedef uint16_t Words4 __attribute__((vector_size(8)));
typedef uint16_t Words8 __attribute__((vector_size(16)));
typedef uint16_t Words16 __attribute__((vector_size(32)));
typedef int16_t Shorts4 __attribute__((vector_size(8)));
typedef int16_t Shorts8 __attribute__((vector_size(16)));
typedef int16_t Shorts16 __attribute__((vector_size(32)));
typedef int32_t Ints4 __attribute__((vector_size(16)));
typedef int32_t Ints8 __attribute__((vector_size(32)));
typedef int32_t Ints16 __attribute__((vector_size(64)));
typedef uint32_t Unsigned8 __attribute__((vector_size(32)));
typedef int64_t Longs4 __attribute__((vector_size(32)));
typedef double Doubles4 __attribute__((vector_size(32)));
typedef float Floats8 __attribute__((vector_size(32)));

// Classes keep lanes, not vectors: the alignment of a vector type depends on the SIMD level, so a
// function for one level would expect another than the allocation has.
template <class Vector>
MMP_INLINE Vector loaded(const void* lanes) {
    Vector vector;
    memcpy(&vector, lanes, sizeof vector);
    return vector;
}
template <class Vector>
MMP_INLINE void store(void* lanes, const Vector& vector) {
    memcpy(lanes, &vector, sizeof vector);
}

// Vectors of Count samples of a row, and of Count lanes that hold sums of a few samples.
template <class Sample, int Count>
struct Row;
template <> struct Row<uint8_t, 4> { using Samples = Bytes4; using Lanes = Shorts4; };
template <> struct Row<uint8_t, 8> { using Samples = Bytes8; using Lanes = Shorts8; };
template <> struct Row<uint8_t, 16> { using Samples = Bytes16; using Lanes = Shorts16; };
template <> struct Row<uint16_t, 4> { using Samples = Words4; using Lanes = Ints4; };
template <> struct Row<uint16_t, 8> { using Samples = Words8; using Lanes = Ints8; };
template <> struct Row<uint16_t, 16> { using Samples = Words16; using Lanes = Ints16; };

// Swaps each two of 16 lanes that are Step, a power of two, apart.
template <int Step, class Lanes>
MMP_INLINE Lanes lanes_apart(Lanes v) {
#ifdef __clang__
    return __builtin_shufflevector(v, v, 0 ^ Step, 1 ^ Step, 2 ^ Step, 3 ^ Step, 4 ^ Step,
                                   5 ^ Step, 6 ^ Step, 7 ^ Step, 8 ^ Step, 9 ^ Step, 10 ^ Step,
                                   11 ^ Step, 12 ^ Step, 13 ^ Step, 14 ^ Step, 15 ^ Step);
#else
    Lanes from;
    for (int lane = 0; lane < 16; ++lane) from[lane] = lane ^ Step;
    return __builtin_shuffle(v, from);
#endif
}

// The lanes of `a`, then `b`, whose numbers are in `from`.
template <class Lanes>
MMP_INLINE Lanes chosen_lanes(Lanes a, Lanes b, Lanes from) {
#ifdef __clang__
    constexpr int kCount = sizeof(Lanes) / sizeof(a[0]);
    Lanes chosen;
    for (int lane = 0; lane < kCount; ++lane)
        chosen[lane] = from[lane] < kCount ? a[from[lane]] : b[from[lane] - kCount];
    return chosen;
#else
    return __builtin_shuffle(a, b, from);
#endif
}

// The result of a comparison of 16 lanes, one byte per lane: 255 where it holds, else 0.
struct LaneMask {
    uint64_t halves[2];

    template <class Comparison>
    explicit MMP_INLINE LaneMask(const Comparison& comparison) {
        const Bytes16 bytes = __builtin_convertvector(comparison, Bytes16);
        __builtin_memcpy(halves, &bytes, sizeof halves);
    }
    // The number of lanes of a half where the comparison holds.
    MMP_INLINE int count(int half) const { return __builtin_popcountll(halves[half]) / 8; }
};

}  // namespace mmp
