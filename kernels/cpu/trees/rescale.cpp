#include "cpu/trees/rescale.h"

#include <cstring>
#include <type_traits>

#include "cpu/runtime/simd.h"
#include "shared/trees/rescale.h"

namespace mmp {

namespace {

typedef uint32_t DoubleWords __attribute__((vector_size(16)));
typedef uint64_t QuadWords __attribute__((vector_size(16)));

// Tables for growing a line to 1 << to_log2 samples; see grow_position().
struct Growth {
    alignas(16) uint8_t left[kFragmentSize], right[kFragmentSize];
    alignas(32) int16_t weight[kFragmentSize];
};

// Indexed by log2 of both lengths.
constexpr auto kGrowths = [] {
    std::array<std::array<Growth, kLevels>, kLevels> growths{};
    for (int from = 0; from < kLevels; ++from)
        for (int to = from + 1; to < kLevels; ++to)
            for (int i = 0; i < 1 << to; ++i) {
                const GrowPosition p = grow_position(i, 1 << from, to);
                growths[from][to].left[i] = static_cast<uint8_t>(p.left);
                growths[from][to].right[i] = static_cast<uint8_t>(p.right);
                growths[from][to].weight[i] = static_cast<int16_t>(p.weight);
            }
    return growths;
}();

template <class Vector>
MMP_INLINE Vector loaded(const void* from) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

// The first samples of a row, widened to 16-bit lanes.
template <class Lanes>
MMP_INLINE Lanes widened(Bytes16 row) {
    if constexpr (sizeof(Lanes) == 32)
        return __builtin_convertvector(row, Lanes);
    else
        return __builtin_convertvector(loaded<Bytes8>(&row), Lanes);
}

// Gathers the samples of a row at the given places (byte shuffle).
MMP_INLINE Bytes16 picked(Bytes16 row, Bytes16 places) {
#if defined(__wasm_simd128__)
    typedef signed char SignedBytes __attribute__((vector_size(16)));
    return reinterpret_cast<Bytes16>(__builtin_wasm_swizzle_i8x16(
        reinterpret_cast<SignedBytes>(row), reinterpret_cast<SignedBytes>(places)));
#elif defined(__clang__)
    for (int lane = 0; lane < 16; ++lane) places[lane] = row[places[lane]];
    return places;
#else
    return __builtin_shuffle(row, places);
#endif
}

template <class Lanes>
MMP_INLINE Lanes between(Lanes left, Lanes right, Lanes weight, int to_log2) {
    const auto half = static_cast<int16_t>((1 << to_log2) >> 1);
    return left + ((weight * (right - left) + half) >> to_log2);
}

// Rounded means of each 1 << Ratio adjacent samples of a row, in the first lanes. Each step adds
// pairs of lanes into lanes of twice the width.
template <int Ratio>
MMP_INLINE Shorts8 narrowed(Bytes16 row) {
    constexpr uint16_t kHalf = 1 << Ratio >> 1;
    const Words8 bytes = reinterpret_cast<Words8>(row);
    const Words8 pairs = (bytes & 0xFF) + (bytes >> 8);
    if constexpr (Ratio == 1) return reinterpret_cast<Shorts8>((pairs + kHalf) >> Ratio);
    const DoubleWords twos = reinterpret_cast<DoubleWords>(pairs);
    const DoubleWords fours = (twos & 0xFFFF) + (twos >> 16);
    Shorts8 means{};
    if constexpr (Ratio == 2) {
        const Shorts4 narrow = __builtin_convertvector((fours + kHalf) >> Ratio, Shorts4);
        std::memcpy(&means, &narrow, sizeof narrow);
        return means;
    }
    const QuadWords halves = reinterpret_cast<QuadWords>(fours);
    const QuadWords eights = (halves & 0xFFFFFFFF) + (halves >> 32);
    const uint64_t first = eights[0], second = eights[1];
    if constexpr (Ratio == 3) {
        means[0] = static_cast<int16_t>((first + kHalf) >> Ratio);
        means[1] = static_cast<int16_t>((second + kHalf) >> Ratio);
    } else {
        means[0] = static_cast<int16_t>((first + second + kHalf) >> Ratio);
    }
    return means;
}

template <int Ratio>
MMP_INLINE void narrow_rows(const uint8_t* block, int rows, Shorts8* wide) {
    for (int row = 0; row < rows; ++row)
        wide[row] = narrowed<Ratio>(loaded<Bytes16>(block + row * kFragmentSize));
}

template <class Lanes>
MMP_INLINE void widen_rows(const uint8_t* block, int rows, int from_log2, int to_log2,
                           Lanes* wide) {
    const Growth& growth = kGrowths[from_log2][to_log2];
    const Bytes16 left = loaded<Bytes16>(growth.left), right = loaded<Bytes16>(growth.right);
    const Lanes weight = loaded<Lanes>(growth.weight);
    for (int i = 0; i < rows; ++i) {
        const Bytes16 row = loaded<Bytes16>(block + i * kFragmentSize);
        wide[i] = between(widened<Lanes>(picked(row, left)), widened<Lanes>(picked(row, right)),
                          weight, to_log2);
    }
}

MMP_INLINE void resize_rows(const uint8_t* block, int rows, int from_log2, int to_log2,
                            Shorts8* wide) {
    switch (from_log2 - to_log2) {
        case 1: return narrow_rows<1>(block, rows, wide);
        case 2: return narrow_rows<2>(block, rows, wide);
        case 3: return narrow_rows<3>(block, rows, wide);
        case 4: return narrow_rows<4>(block, rows, wide);
        case 0:
            for (int row = 0; row < rows; ++row)
                wide[row] = widened<Shorts8>(loaded<Bytes16>(block + row * kFragmentSize));
            return;
        default: return widen_rows(block, rows, from_log2, to_log2, wide);
    }
}

MMP_INLINE void resize_rows(const uint8_t* block, int rows, int from_log2, int to_log2,
                            Shorts16* wide) {
    if (from_log2 < to_log2) return widen_rows(block, rows, from_log2, to_log2, wide);
    for (int row = 0; row < rows; ++row)
        wide[row] = widened<Shorts16>(loaded<Bytes16>(block + row * kFragmentSize));
}

// Writes a whole vector; the next row overwrites the surplus samples.
template <class Lanes>
MMP_INLINE void store(Lanes row, uint8_t* out) {
    using Bytes = std::conditional_t<sizeof(Lanes) == 32, Bytes16, Bytes8>;
    const Bytes bytes = __builtin_convertvector(row, Bytes);
    std::memcpy(out, &bytes, sizeof bytes);
}

// Resizes columns to each height that has a target buffer.
template <class Lanes>
MMP_INLINE void resize_columns_of(Lanes* rows, int width, int from_log2, const Targets& targets) {
    for (int to_log2 = from_log2 + 1; to_log2 <= kFragmentLog2; ++to_log2) {
        uint8_t* out = targets[kFragmentLog2 - to_log2];
        if (!out) continue;
        const Growth& growth = kGrowths[from_log2][to_log2];
        for (int i = 0; i < 1 << to_log2; ++i, out += width)
            store(between(rows[growth.left[i]], rows[growth.right[i]],
                          Lanes{} + growth.weight[i], to_log2),
                  out);
    }
    // Each height adds pairs of rows of the previous, larger height.
    for (int ratio = 0; ratio <= from_log2; ++ratio) {
        const int height = 1 << (from_log2 - ratio);
        if (ratio)
            for (int i = 0; i < height; ++i) rows[i] = rows[2 * i] + rows[2 * i + 1];
        uint8_t* out = targets[kFragmentLog2 - from_log2 + ratio];
        if (!out) continue;
        const auto half = static_cast<int16_t>(1 << ratio >> 1);
        for (int i = 0; i < height; ++i, out += width) store((rows[i] + half) >> ratio, out);
    }
}

template <class Lanes>
MMP_INLINE void rescale_to(const uint8_t* block, int scale, int m, const Targets& targets) {
    Lanes rows[kFragmentSize];
    const int height_log2 = kFragmentLog2 - scale_n(scale);
    resize_rows(block, 1 << height_log2, kFragmentLog2 - scale_m(scale), kFragmentLog2 - m, rows);
    resize_columns_of(rows, kFragmentSize >> m, height_log2, targets);
}

}  // namespace

MMP_SIMD_LEVELS void rescale(const uint8_t* block, int scale, int m, const Targets& targets) {
    if (m == 0)
        rescale_to<Shorts16>(block, scale, m, targets);
    else
        rescale_to<Shorts8>(block, scale, m, targets);
}

}  // namespace mmp
