// Products of small matrices of 16-bit integers, for several levels of SIMD.
#pragma once

#include <stdint.h>

#include <vector>

namespace mmp {

// A matrix of 16-bit integers, row by row.
struct Matrix {
    const int16_t* data;
    int stride;
};

// Computes (x y + 2^(shift - 1)) >> shift. x has `rows` rows and y has `columns` columns, both
// multiples of 4 or, for rows, 2; y has `length` rows, a multiple of 2. Sums fit 32 bits.
struct ProductKernel {
    const char* name;
    bool (*supported)();
    // Saturates the results to kMaxCoefficient.
    void (*to_words)(Matrix x, Matrix y, int rows, int columns, int length, int shift, int16_t* out,
                     int out_stride);
    void (*to_ints)(Matrix x, Matrix y, int rows, int columns, int length, int shift, int32_t* out,
                    int out_stride);
};

// The best kernel of this machine.
const ProductKernel& products();

// The kernels of this build, best first.
const std::vector<const ProductKernel*>& product_kernels();

}  // namespace mmp
