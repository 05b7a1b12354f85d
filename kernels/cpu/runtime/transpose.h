// Transposition of small square matrices in registers.
#pragma once

#include "cpu/runtime/simd.h"

namespace mmp {

// Side of a square matrix whose rows have 16 bytes.
template <class T>
constexpr int kSquareSide = 16 / sizeof(T);

// Writes value `first` + k of line i to columns[k * stride + i], for a kSquareSide x kSquareSide
// matrix of signed integers.
template <class T>
MMP_INLINE void transpose_square(const T* const* lines, int64_t first, T* columns,
                                 int64_t stride) {
    constexpr int kSide = kSquareSide<T>;
    using Part = typename Vector<T, kSide>::Type;
    Part low, high;
    for (int i = 0; i < kSide; ++i) {
        low[i] = static_cast<T>(i / 2 + i % 2 * kSide);
        high[i] = static_cast<T>(low[i] + kSide / 2);
    }
    Part now[kSide], next[kSide];
    for (int i = 0; i < kSide; ++i) now[i] = loaded<Part>(lines[i] + first);
    for (int step = 1; step < kSide; step *= 2) {
        for (int i = 0; i < kSide / 2; ++i) {
            next[2 * i] = chosen_lanes(now[i], now[i + kSide / 2], low);
            next[2 * i + 1] = chosen_lanes(now[i], now[i + kSide / 2], high);
        }
        for (int i = 0; i < kSide; ++i) now[i] = next[i];
    }
    for (int i = 0; i < kSide; ++i) store(columns + i * stride, now[i]);
}

}  // namespace mmp
