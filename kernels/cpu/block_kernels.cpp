#include "block_kernels.h"

#include <math.h>
#include <string.h>

#include <memory>

#include "simd.h"

namespace mmp {

namespace {

struct Tables {
    // By type, side, frequency and sample; and the last two the other way round.
    alignas(64) int16_t basis[2][kSides][kMaxSide][kMaxSide];
    alignas(64) int16_t turned[2][kSides][kMaxSide][kMaxSide];
    int8_t taps[32][4];
    // By angle: where the line goes on before its first sample, in the samples at the side.
    uint8_t beside[kAngles][kMaxSide + 3];

    Tables() {
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
        for (int f = 0; f < 32; ++f)
            for (int k = 0; k < 4; ++k) taps[f][k] = int8_t(taps_of(f).weight[k]);
        for (int angle = 0; angle < kAngles; ++angle) {
            const int steep = -angle_slope(angle);
            for (int k = 1; steep > 0 && k <= ((kMaxSide * steep) >> 5) + 2; ++k)
                beside[angle][k] = uint8_t(smaller(side_place(k, steep) - 1, UINT8_MAX));
        }
    }
};

const Tables& tables() {
    static const Tables made;
    return made;
}

MMP_INLINE uint8_t clipped(int value) {
    return uint8_t(value < 0 ? 0 : value > 255 ? 255 : value);
}

// A row of an angle of the vertical family; for the horizontal one the block is transposed. Sums of
// the weighted samples stay within 16 bits.
template <class Shorts, class Bytes>
MMP_INLINE void interpolate(const int16_t* from, const int8_t* taps, int width, uint8_t* out) {
    for (int first = 0; first < width; first += int(sizeof(Bytes))) {
        Shorts sum = Shorts{} + int16_t{32};
        for (int tap = 0; tap < 4; ++tap) {
            Shorts samples;
            memcpy(&samples, from + first + tap, sizeof samples);
            sum += samples * int16_t{taps[tap]};
        }
        sum >>= 6;
        sum = sum < 0 ? Shorts{} : sum;
        sum = sum > 255 ? Shorts{} + int16_t{255} : sum;
        const Bytes row = __builtin_convertvector(sum, Bytes);
        memcpy(out + first, &row, sizeof row);
    }
}

MMP_SIMD_LEVELS void predict_angle(int angle, const int16_t* main, const int16_t* side,
                                   int corner, int height, int width, const Tables& tables,
                                   uint8_t* out) {
    constexpr int kBefore = 2 * kMaxSide;
    int16_t line[kBefore + 2 * kMaxSide + 8];
    int16_t* r = line + kBefore;
    const int length = height + width;
    r[0] = int16_t(corner);
    for (int i = 0; i < length; ++i) r[i + 1] = main[i];
    for (int i = length + 1; i < length + 4; ++i) r[i] = main[length - 1];
    const int slope = angle_slope(angle);
    if (slope < 0) {
        const uint8_t* beside = tables.beside[angle];
        for (int k = 1; k <= ((height * -slope) >> 5) + 2; ++k)
            r[-k] = side[smaller(beside[k], length - 1)];
    }
    for (int i = 0; i < height; ++i) {
        const int position = (i + 1) * slope;
        const int8_t* taps = tables.taps[position & 31];
        const int16_t* from = r + (position >> 5);
        uint8_t* row = out + i * width;
        if (width == 4)
            interpolate<Shorts4, Bytes4>(from, taps, width, row);
        else if (width == 8)
            interpolate<Shorts8, Bytes8>(from, taps, width, row);
        else
            interpolate<Shorts16, Bytes16>(from, taps, width, row);
    }
}

MMP_SIMD_LEVELS void transpose(const uint8_t* in, int height, int width, uint8_t* out) {
    for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) out[j * height + i] = in[i * width + j];
}

MMP_SIMD_LEVELS void predict_plane(const References& r, int a, int b, uint8_t* out) {
    const int height = 1 << a, width = 1 << b;
    for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j)
            out[i * width + j] = uint8_t(planar_sample(i, j, a, b, r.above[j], r.left[i],
                                                       r.above[width], r.left[height]));
}

}  // namespace

References References::smoothed(int length) const {
    References out;
    for (int i = 0; i < length; ++i) {
        const int after = i + 1 < length ? i + 1 : i;
        out.above[i] = int16_t(mmp::smoothed(i ? above[i - 1] : corner, above[i], above[after]));
        out.left[i] = int16_t(mmp::smoothed(i ? left[i - 1] : corner, left[i], left[after]));
    }
    out.corner = int16_t(mmp::smoothed(above[0], corner, left[0]));
    return out;
}

void predict_block(int mode, const References& references, const References& smooth, int a, int b,
                   uint8_t* out) {
    const int height = 1 << a, width = 1 << b;
    if (mode == kConstant) {
        memset(out, 128, height * width);
    } else if (mode == kAverage) {
        int sum = 0;
        for (int j = 0; j < width; ++j) sum += references.above[j];
        for (int i = 0; i < height; ++i) sum += references.left[i];
        memset(out, (sum + (height + width) / 2) / (height + width), height * width);
    } else if (mode == kPlanar) {
        predict_plane(references, a, b, out);
    } else {
        const int angle = angle_of(mode);
        const bool straight = angle == kHorizontal || angle == kVertical;
        const References& r = straight || height + width < kSmoothedFrom ? references : smooth;
        if (angle >= kFirstVertical) {
            predict_angle(angle, r.above, r.left, r.corner, height, width, tables(), out);
        } else {
            uint8_t turned[kMaxBlockArea];
            predict_angle(angle, r.left, r.above, r.corner, width, height, tables(), turned);
            transpose(turned, width, height, out);
        }
    }
}

MMP_SIMD_LEVELS void subtract(const uint8_t* source, const uint8_t* prediction, int area,
                              int16_t* residual) {
    for (int i = 0; i < area; ++i) residual[i] = int16_t(source[i] - prediction[i]);
}

namespace {

MMP_INLINE Shorts16 difference_of(const uint8_t* x, const uint8_t* y) {
    Bytes16 a, b;
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    return __builtin_convertvector(a, Shorts16) - __builtin_convertvector(b, Shorts16);
}

// Of each two lanes that are Step apart, their sum and their difference.
template <int Step>
MMP_INLINE Shorts16 butterfly(Shorts16 v) {
    Shorts16 upper;  // -1 in the second of the two
    for (int lane = 0; lane < 16; ++lane) upper[lane] = lane & Step ? -1 : 0;
    return lanes_apart<Step>(v) + ((v ^ upper) - upper);
}

// Hadamard coefficients along each four lanes, without their signs.
MMP_INLINE Shorts16 sizes_along(Shorts16 v) {
    v = butterfly<1>(butterfly<2>(v));
    return v < 0 ? -v : v;
}

// Sizes of all coefficients; sixteen samples of a piece, of a pair or of four pieces at a time.
template <int Width>
MMP_INLINE int32_t hadamard_sizes(const uint8_t* s, const uint8_t* p, int height, int width) {
    Ints16 sums{};
    if constexpr (Width == 4) {
        for (int i = 0; i < 4 * height; i += 16) {
            const Shorts16 sizes =
                sizes_along(butterfly<4>(butterfly<8>(difference_of(s + i, p + i))));
            sums += __builtin_convertvector(sizes, Ints16);
        }
    } else if constexpr (Width == 8) {
        for (int i = 0; i < 8 * height; i += 32) {
            const Shorts16 upper = difference_of(s + i, p + i);
            const Shorts16 lower = difference_of(s + i + 16, p + i + 16);
            const Shorts16 sizes = sizes_along(butterfly<8>(upper + lower)) +
                                   sizes_along(butterfly<8>(upper - lower));
            sums += __builtin_convertvector(sizes, Ints16);
        }
    } else {
        for (int y = 0; y < height; y += 4)
            for (int i = y * width; i < (y + 1) * width; i += 16) {
                Shorts16 r[4];
                for (int k = 0; k < 4; ++k)
                    r[k] = difference_of(s + i + k * width, p + i + k * width);
                const Shorts16 u = r[0] + r[2], v = r[0] - r[2], m = r[1] + r[3], n = r[1] - r[3];
                const Shorts16 sizes = sizes_along(u + m) + sizes_along(u - m) +
                                       sizes_along(v + n) + sizes_along(v - n);
                sums += __builtin_convertvector(sizes, Ints16);
            }
    }
    int32_t sum = 0;
    for (int lane = 0; lane < 16; ++lane) sum += sums[lane];
    return sum;
}

}  // namespace

MMP_SIMD_LEVELS int32_t hadamard_difference(const uint8_t* source, const uint8_t* prediction,
                                            int a, int b) {
    const int height = 1 << a, width = 1 << b;
    switch (width) {
        case 4: return hadamard_sizes<4>(source, prediction, height, width) >> 1;
        case 8: return hadamard_sizes<8>(source, prediction, height, width) >> 1;
        default: return hadamard_sizes<16>(source, prediction, height, width) >> 1;
    }
}

MMP_SIMD_LEVELS int64_t squared_difference(const uint8_t* x, const uint8_t* y, int area) {
    int32_t sum = 0;
    for (int i = 0; i < area; ++i) {
        const int d = x[i] - y[i];
        sum += d * d;
    }
    return sum;
}

// A matrix of 16-bit numbers, rows one after the other.
struct Matrix {
    const int16_t* data;
    int stride;
};

// sat((x y + half) >> shift) for `rows` rows of x, `length` columns of x and rows of y. Four rows at
// a time share what is read of y.
template <int Columns>
MMP_INLINE void multiply_columns(Matrix x, Matrix y, int rows, int length, int shift,
                                 int16_t* out, int out_stride) {
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
            for (int j = 0; j < Columns; ++j)
                out[(i + r) * out_stride + j] = int16_t(saturated(sums[r][j] >> shift));
    }
}

MMP_SIMD_LEVELS void multiply(Matrix x, Matrix y, int rows, int columns, int length, int shift,
                              int16_t* out) {
    switch (columns) {
        case 4: return multiply_columns<4>(x, y, rows, length, shift, out, columns);
        case 8: return multiply_columns<8>(x, y, rows, length, shift, out, columns);
        default:
            for (int j = 0; j < columns; j += 16)
                multiply_columns<16>(x, {y.data + j, y.stride}, rows, length, shift, out + j,
                                     columns);
    }
}

void transform_forward(const int16_t* residual, int a, int b, int type, int16_t* coefficients) {
    const int height = 1 << a, width = 1 << b;
    const int rows = smaller(height, kCodedSide), columns = smaller(width, kCodedSide);
    const Matrix down{tables().basis[type][a - kMinSideLog2][0], kMaxSide};
    const Matrix across{tables().turned[type][b - kMinSideLog2][0], kMaxSide};
    int16_t half[kCodedSide * kMaxSide];
    multiply(down, {residual, width}, rows, width, height, kBasisBits - kCoefficientBits, half);
    multiply({half, width}, across, rows, columns, width, kBasisBits, coefficients);
}

MMP_SIMD_LEVELS void add_residual(const uint8_t* prediction, const int16_t* residual, int area,
                                  uint8_t* samples) {
    for (int i = 0; i < area; ++i) samples[i] = clipped(prediction[i] + residual[i]);
}

void transform_inverse(const int16_t* coefficients, int a, int b, int type,
                       const uint8_t* prediction, uint8_t* samples) {
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
    int16_t half[kMaxSide * kCodedSide], residual[kMaxBlockArea];
    multiply(down, {coefficients, columns}, height, columns, rows, kBasisBits, half);
    multiply({half, columns}, across, height, width, used, kBasisBits + kCoefficientBits,
             residual);
    add_residual(prediction, residual, height * width, samples);
}

}  // namespace mmp
