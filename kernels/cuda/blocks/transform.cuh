// Integer transforms of a residual, one output value per thread.
#pragma once

#include "cuda/blocks/state.cuh"
#include "cuda/device/product.cuh"

namespace mmp {

// rounded_product(), saturated.
__device__ inline int16_t product(const int16_t* x, int x_step, const int16_t* y, int y_step,
                                  int length, int shift) {
    return int16_t(saturated(rounded_product(x, x_step, y, y_step, length, shift)));
}

// Sample (i, j) of a residual, from the inverse column transform.
__device__ inline int residual_sample(const BlockTables& tables, const int16_t* half, int a, int b,
                                      int type, int i, int j, SampleDepth depth) {
    const int columns = min(1 << b, kCodedSide);
    const int32_t value =
        rounded_product(half + i * columns, 1, &tables.basis[type][b - kMinSideLog2][0][j], kMaxSide,
                      columns, kBasisBits + kCoefficientBits - depth.extra());
    // Residuals of the deepest samples do not fit 16 bits.
    return kDeep && depth.bits > 15 ? value : saturated(value);
}

// Frequency k of column j of a residual with 8 + `extra` bits (forward column transform).
template <class Residual>
__device__ int16_t column_frequency(const BlockTables& tables, const Residual& residual, int a,
                                    int type, int k, int j, int extra) {
    const int16_t* basis = tables.basis[type][a - kMinSideLog2][k];
    const int shift = kBasisBits - kCoefficientBits + extra;
    int32_t sum = 1 << (shift - 1);
#pragma unroll 4
    for (int i = 0; i < 1 << a; ++i) sum += int32_t{basis[i]} * residual(i, j);
    return int16_t(saturated(sum >> shift));
}

// Coefficient (k, l), from the forward column transform.
__device__ inline int16_t coefficient_of(const BlockTables& tables, const int16_t* half, int b,
                                         int type, int k, int l) {
    return product(half + (k << b), 1, &tables.turned[type][b - kMinSideLog2][0][l], kMaxSide,
                   1 << b, kBasisBits);
}

// Sample i of column l after the inverse column transform.
__device__ inline int16_t column_sample(const BlockTables& tables, const int16_t* coefficients,
                                        int a, int b, int type, int i, int l) {
    const int rows = min(1 << a, kCodedSide), columns = min(1 << b, kCodedSide);
    return product(tables.turned[type][a - kMinSideLog2][i], 1, coefficients + l, columns, rows,
                   kBasisBits);
}

}  // namespace mmp
