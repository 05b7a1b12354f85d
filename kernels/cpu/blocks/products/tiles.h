// Matrix product in register tiles, for any SIMD level. avx2.cpp, avx512.cpp and generic.cpp
// include this file and compile it for their own level.
#pragma once

#include <stdint.h>

#include "cpu/blocks/products/products.h"
#include "shared/blocks/transform.h"

namespace {

using namespace mmp;

// Simd::Tile<Rows, Columns> accumulates one tile of the product: add(factors, stride, y, y_stride)
// adds the outer products of two columns of x with two rows of y.
template <class Tile, class Out>
inline void multiply_tile(Matrix x, Matrix y, int length, int shift, Out* out, int out_stride) {
    Tile tile(1 << (shift - 1));
    for (int k = 0; k < length; k += 2)
        tile.add(x.data + k, x.stride, y.data + k * y.stride, y.stride);
    tile.store(shift, out, out_stride);
}

// Not inlined, so that the compiler keeps the accumulators of a tile in registers.
template <class Simd, int Columns, class Out>
__attribute__((noinline)) void multiply_columns(Matrix x, Matrix y, int rows, int length, int shift, Out* out,
                             int out_stride) {
    int i = 0;
    for (; i + 4 <= rows; i += 4)
        multiply_tile<typename Simd::template Tile<4, Columns>>(
            {x.data + i * x.stride, x.stride}, y, length, shift, out + i * out_stride, out_stride);
    if (i < rows)
        multiply_tile<typename Simd::template Tile<2, Columns>>(
            {x.data + i * x.stride, x.stride}, y, length, shift, out + i * out_stride, out_stride);
}

template <class Simd, class Out>
void multiply(Matrix x, Matrix y, int rows, int columns, int length, int shift, Out* out,
              int out_stride) {
    int j = 0;
    const auto take = [&]<int Columns>() {
        for (; j + Columns <= columns; j += Columns)
            multiply_columns<Simd, Columns>(x, {y.data + j, y.stride}, rows, length, shift, out + j,
                                            out_stride);
    };
    if constexpr (Simd::kMostColumns >= 32) take.template operator()<32>();
    if constexpr (Simd::kMostColumns >= 16) take.template operator()<16>();
    take.template operator()<8>();
    take.template operator()<4>();
}

}  // namespace
