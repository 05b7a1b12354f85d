#include "cpu/blocks/transform.h"

#include <math.h>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

// By transform type, side, frequency and sample; `turned` swaps frequency and sample.
struct BasisTables {
    alignas(64) int16_t basis[2][kSides][kMaxSide][kMaxSide];
    alignas(64) int16_t turned[2][kSides][kMaxSide][kMaxSide];

    BasisTables() {
        for (int log2 = kMinSideLog2; log2 <= kMaxSideLog2; ++log2) {
            const int side = 1 << log2;
            for (int k = 0; k < side; ++k)
                for (int i = 0; i < side; ++i) {
                    const double cosine = (k ? sqrt(2.0 / side) : sqrt(1.0 / side)) *
                                          cos(M_PI * k * (2 * i + 1) / (2 * side));
                    const double sine = 2 / sqrt(2 * side + 1) *
                                        sin(M_PI * (2 * k + 1) * (i + 1) / (2 * side + 1));
                    const int at = log2 - kMinSideLog2;
                    basis[kCosine][at][k][i] = turned[kCosine][at][i][k] =
                        int16_t(floor(4096 * cosine + 0.5));
                    basis[kSine][at][k][i] = turned[kSine][at][i][k] =
                        int16_t(floor(4096 * sine + 0.5));
                }
        }
    }
};

const BasisTables& tables() {
    static const BasisTables made;
    return made;
}

}  // namespace

template <class Sample>
MMP_SIMD_LEVELS void subtract(const Sample* source, const Sample* prediction, int area,
                              Depth<Sample> depth, int16_t* residual) {
    const int unseen = depth.extra() - seen_bits(depth);
    for (int i = 0; i < area; ++i) residual[i] = int16_t((source[i] - prediction[i]) >> unseen);
}

// A matrix of 16-bit numbers, row by row.
struct Matrix {
    const int16_t* data;
    int stride;
};

// Computes the matrix product x y, rounded and divided by 2^shift, of `rows` rows of x and `length`
// rows of y. 16-bit results are saturated. Four rows at a time share the reads of y.
template <int Columns, class Out>
MMP_INLINE void multiply_columns(Matrix x, Matrix y, int rows, int length, int shift, Out* out,
                                 int out_stride) {
    for (int i = 0; i < rows; i += 4) {
        int32_t sums[4][Columns];
        for (auto& row : sums)
            for (int j = 0; j < Columns; ++j) row[j] = 1 << (shift - 1);
        for (int k = 0; k < length; ++k)
            for (int r = 0; r < 4; ++r) {
                const int32_t factor = x.data[(i + r) * x.stride + k];
                for (int j = 0; j < Columns; ++j)
                    sums[r][j] += factor * y.data[k * y.stride + j];
            }
        for (int r = 0; r < 4; ++r)
            for (int j = 0; j < Columns; ++j) {
                const int32_t value = sums[r][j] >> shift;
                out[(i + r) * out_stride + j] = sizeof(Out) == 2 ? Out(saturated(value)) : value;
            }
    }
}

template <class Out>
MMP_SIMD_LEVELS void multiply(Matrix x, Matrix y, int rows, int columns, int length, int shift,
                              Out* out) {
    switch (columns) {
        case 4: return multiply_columns<4>(x, y, rows, length, shift, out, columns);
        case 8: return multiply_columns<8>(x, y, rows, length, shift, out, columns);
        default:
            for (int j = 0; j < columns; j += 16)
                multiply_columns<16>(x, {y.data + j, y.stride}, rows, length, shift, out + j,
                                     columns);
    }
}

void transform_forward(const int16_t* residual, int a, int b, int type, int extra,
                       int16_t* coefficients) {
    const int height = 1 << a, width = 1 << b;
    const int rows = smaller(height, kCodedSide), columns = smaller(width, kCodedSide);
    const Matrix down{tables().basis[type][a - kMinSideLog2][0], kMaxSide};
    const Matrix across{tables().turned[type][b - kMinSideLog2][0], kMaxSide};
    int16_t half[kCodedSide * kMaxSide];
    multiply(down, {residual, width}, rows, width, height,
             kBasisBits - kCoefficientBits + extra, half);
    multiply({half, width}, across, rows, columns, width, kBasisBits, coefficients);
}

template <class Sample>
MMP_SIMD_LEVELS void add_residual(const Sample* prediction, const Wide<Sample>* residual, int area,
                                  Depth<Sample> depth, Sample* samples) {
    for (int i = 0; i < area; ++i) {
        const int value = prediction[i] + residual[i];
        samples[i] = Sample(value < 0 ? 0 : value > depth.most() ? depth.most() : value);
    }
}

template <class Sample>
void transform_inverse(const int16_t* coefficients, int a, int b, int type,
                       const Sample* prediction, Depth<Sample> depth, Sample* samples) {
    const int height = 1 << a, width = 1 << b;
    const int columns = smaller(width, kCodedSide);
    // Rows and columns of zeros at the end add nothing.
    int rows = smaller(height, kCodedSide), used = columns;
    const auto any = [&](int from, int step, int count) {
        for (int i = 0; i < count; ++i)
            if (coefficients[from + i * step]) return true;
        return false;
    };
    while (rows > 1 && !any((rows - 1) * columns, 1, columns)) --rows;
    while (used > 1 && !any(used - 1, columns, rows)) --used;
    const Matrix down{tables().turned[type][a - kMinSideLog2][0], kMaxSide};
    const Matrix across{tables().basis[type][b - kMinSideLog2][0], kMaxSide};
    int16_t half[kMaxSide * kCodedSide];
    Wide<Sample> residual[kMaxBlockArea];
    multiply(down, {coefficients, columns}, height, columns, rows, kBasisBits, half);
    multiply({half, columns}, across, height, width, used,
             kBasisBits + kCoefficientBits - depth.extra(), residual);
    add_residual(prediction, residual, height * width, depth, samples);
}

#define MMP_INSTANTIATE(Sample)                                                                    \
    template void subtract(const Sample*, const Sample*, int, Depth<Sample>, int16_t*);            \
    template void transform_inverse(const int16_t*, int, int, int, const Sample*, Depth<Sample>,   \
                                    Sample*);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
