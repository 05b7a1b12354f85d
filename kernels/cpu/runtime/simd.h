// Vector types, and a macro that compiles a function for several SIMD levels, so that one binary
// runs on every processor of an architecture.
#pragma once

#include <stdint.h>
#include <string.h>

// The dynamic loader selects the best level that the processor supports (ifunc). It does so before
// the thread sanitizer is initialised, so sanitizer builds have one level.
#if defined(MMP_X86) && !defined(__SANITIZE_THREAD__)
#define MMP_SIMD_LEVELS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MMP_SIMD_LEVELS
#endif

// Inlines a function or lambda into the function of each SIMD level. Without it, the compiler also
// treats a function that only prefetches as one without effect.
#define MMP_INLINED __attribute__((always_inline))
#define MMP_INLINE inline MMP_INLINED

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

template <class Lane, int Count>
struct Vector {
    typedef Lane Type __attribute__((vector_size(Count * sizeof(Lane))));
};

// Classes store arrays of lanes, not vectors: the alignment of vector types depends on the SIMD
// level, so functions of one level would expect a stricter alignment than the allocation has.
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

// Vector types: Count samples of a row, and Count lanes for sums of a few samples.
template <class Sample, int Count>
struct Row;
template <> struct Row<uint8_t, 4> { using Samples = Bytes4; using Lanes = Shorts4; };
template <> struct Row<uint8_t, 8> { using Samples = Bytes8; using Lanes = Shorts8; };
template <> struct Row<uint8_t, 16> { using Samples = Bytes16; using Lanes = Shorts16; };
template <> struct Row<uint16_t, 4> { using Samples = Words4; using Lanes = Ints4; };
template <> struct Row<uint16_t, 8> { using Samples = Words8; using Lanes = Ints8; };
template <> struct Row<uint16_t, 16> { using Samples = Words16; using Lanes = Ints16; };

// Swaps each pair of 16 lanes that are Step apart; Step is a power of two.
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

// Two-source shuffle: result lane i is lane from[i] of the concatenation of a and b.
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

// Concatenates two vectors of 4 or of 8 lanes.
template <class Joined, class Part>
MMP_INLINE Joined joined(Part low, Part high) {
#if defined(__clang__) || __GNUC__ >= 12
    if constexpr (sizeof(Part) / sizeof(low[0]) == 4)
        return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    else
        return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                                       15);
#else
    Joined lanes;
    __builtin_memcpy(&lanes, &low, sizeof low);
    __builtin_memcpy(reinterpret_cast<char*>(&lanes) + sizeof low, &high, sizeof high);
    return lanes;
#endif
}

// Sums of two products of eight lanes each: of adjacent 16-bit lanes (SSE2), else of lanes four
// apart. Use it only where the order of lanes does not matter.
MMP_INLINE Ints4 sums_of_pairs(Shorts8 a, Shorts8 b) {
#ifdef __SSE2__
    return reinterpret_cast<Ints4>(__builtin_ia32_pmaddwd128(a, b));
#elif defined(__wasm_simd128__)
    return __builtin_wasm_dot_s_i32x4_i16x8(a, b);
#else
    const Ints8 products = __builtin_convertvector(a, Ints8) * __builtin_convertvector(b, Ints8);
    return Ints4{products[0] + products[1], products[2] + products[3], products[4] + products[5],
                 products[6] + products[7]};
#endif
}
MMP_INLINE Ints4 sums_of_pairs(Ints8 a, Ints8 b) {
    const Ints8 products = a * b;
    Ints4 low, high;
    memcpy(&low, &products, sizeof low);
    memcpy(&high, reinterpret_cast<const char*>(&products) + sizeof low, sizeof high);
    return low + high;
}

// Alternates the lower or the upper four lanes of two vectors.
MMP_INLINE Shorts8 interleaved_low(Shorts8 a, Shorts8 b) {
#ifdef __clang__
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#else
    return __builtin_shuffle(a, b, Shorts8{0, 8, 1, 9, 2, 10, 3, 11});
#endif
}
MMP_INLINE Shorts8 interleaved_high(Shorts8 a, Shorts8 b) {
#ifdef __clang__
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
    return __builtin_shuffle(a, b, Shorts8{4, 12, 5, 13, 6, 14, 7, 15});
#endif
}

// Sums of two products of adjacent lanes.
MMP_INLINE Ints4 products_of_pairs(Shorts8 a, Shorts8 b) {
#if defined(__SSE2__) || defined(__wasm_simd128__)
    return sums_of_pairs(a, b);
#else
    const Ints8 products = __builtin_convertvector(a, Ints8) * __builtin_convertvector(b, Ints8);
    return Ints4{products[0] + products[1], products[2] + products[3], products[4] + products[5],
                 products[6] + products[7]};
#endif
}

#ifdef __AVX2__
// The same of 16 lanes. Lanes are interleaved within each half of 128 bits.
MMP_INLINE Shorts16 interleaved_low(Shorts16 a, Shorts16 b) {
    return chosen_lanes(a, b, Shorts16{0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27});
}
MMP_INLINE Shorts16 interleaved_high(Shorts16 a, Shorts16 b) {
    return chosen_lanes(a, b,
                        Shorts16{4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31});
}
MMP_INLINE Ints8 products_of_pairs(Shorts16 a, Shorts16 b) {
    return reinterpret_cast<Ints8>(__builtin_ia32_pmaddwd256(a, b));
}
#endif

// The sums of each two adjacent lanes of a, then of b.
MMP_INLINE Ints4 sums_of_neighbours(Ints4 a, Ints4 b) {
#ifdef __clang__
    return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
#else
    return chosen_lanes(a, b, Ints4{0, 2, 4, 6}) + chosen_lanes(a, b, Ints4{1, 3, 5, 7});
#endif
}

// Upper 16 bits of each 32-bit product.
MMP_INLINE Shorts8 high_products(Shorts8 a, Shorts8 b) {
#ifdef __SSE2__
    return __builtin_ia32_pmulhw128(a, b);
#else
    const Ints8 products = __builtin_convertvector(a, Ints8) * __builtin_convertvector(b, Ints8);
    return __builtin_convertvector(products >> 16, Shorts8);
#endif
}

// Sums of pairs of 16 non-negative lanes: of adjacent 16-bit lanes, or of lanes eight apart. Eight
// lanes of 32 bits fit an AVX2 register; 16 would be spilled.
MMP_INLINE Ints8 sums_of_two(Shorts16 v) {
    const auto pairs = reinterpret_cast<Unsigned8>(v);
    return reinterpret_cast<Ints8>((pairs & 0xFFFF) + (pairs >> 16));
}
MMP_INLINE Ints8 sums_of_two(Ints16 v) {
    Ints8 halves[2];
    memcpy(halves, &v, sizeof v);
    return halves[0] + halves[1];
}

// Result of a comparison of 16 lanes, one byte per lane: 255 if true, else 0.
struct LaneMask {
    uint64_t halves[2];

    template <class Comparison>
    explicit MMP_INLINE LaneMask(const Comparison& comparison) {
        const Bytes16 bytes = __builtin_convertvector(comparison, Bytes16);
        __builtin_memcpy(halves, &bytes, sizeof halves);
    }
    // Number of lanes of a half for which the comparison is true.
    MMP_INLINE int count(int half) const { return __builtin_popcountll(halves[half]) / 8; }
};

// Returns the results of comparing two vectors of 8 lanes as a bit mask.
MMP_INLINE uint32_t lane_bits(Shorts8 first, Shorts8 second) {
#ifdef __SSE2__
    return static_cast<uint32_t>(
        __builtin_ia32_pmovmskb128(__builtin_ia32_packsswb128(first, second)));
#elif defined(__wasm_simd128__)
    return __builtin_wasm_bitmask_i8x16(__builtin_wasm_narrow_s_i8x16_i16x8(first, second));
#else
    uint32_t bits = 0;
    for (int lane = 0; lane < 8; ++lane)
        bits |= uint32_t{first[lane] != 0} << lane | uint32_t{second[lane] != 0} << (lane + 8);
    return bits;
#endif
}

// lane_bits() of one vector of 16 byte lanes.
template <class Comparison>
MMP_INLINE uint32_t lane_bits(Comparison comparison) {
#ifdef __SSE2__
    typedef char Characters __attribute__((vector_size(16)));
    return static_cast<uint32_t>(
        __builtin_ia32_pmovmskb128(reinterpret_cast<Characters>(comparison)));
#elif defined(__wasm_simd128__)
    typedef signed char SignedBytes __attribute__((vector_size(16)));
    return __builtin_wasm_bitmask_i8x16(reinterpret_cast<SignedBytes>(comparison));
#else
    uint32_t bits = 0;
    for (int lane = 0; lane < 16; ++lane) bits |= uint32_t{comparison[lane] != 0} << lane;
    return bits;
#endif
}

}  // namespace mmp
