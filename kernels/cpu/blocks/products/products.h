// Products of small matrices of 16-bit integers, with one kernel per SIMD level.
#pragma once

#include <stdint.h>

#include <vector>

namespace mmp {

// A row-major matrix of 16-bit integers.
struct Matrix {
    const int16_t* data;
    int stride;
};

// Computes (x y + 2^(shift - 1)) >> shift. x is `rows` x `length`, y is `length` x `columns`;
// `columns` is a multiple of 4, `rows` of 2, `length` of 2. Sums fit 32 bits.
struct ProductKernel {
    const char* name;
    bool (*supported)();
    // Saturates the results to +-kMaxCoefficient.
    void (*to_words)(Matrix x, Matrix y, int rows, int columns, int length, int shift, int16_t* out,
                     int out_stride);
    void (*to_ints)(Matrix x, Matrix y, int rows, int columns, int length, int shift, int32_t* out,
                    int out_stride);
};

// The fastest kernel that this processor supports.
const ProductKernel& products();

// The kernels compiled into this build, fastest first; the processor may not support all.
const std::vector<const ProductKernel*>& product_kernels();

}  // namespace mmp
