#include "block_kernels.h"

#include <math.h>
#include <string.h>

#include <memory>

#include "simd.h"

namespace mmp {

namespace {

constexpr int8_t kAngle[kAngles] = {32,  26,  21,  17,  13,  9,   5,   2,  0,  -2, -5,
                                    -9,  -13, -17, -21, -26, -32, -26, -21, -17, -13, -9,
                                    -5,  -2,  0,   2,   5,   9,   13,  17,  21,  26, 32};

struct Tables {
    // By type, side, frequency and sample; and the last two the other way round.
    alignas(64) int16_t basis[2][kSides][kMaxSide][kMaxSide];
    alignas(64) int16_t turned[2][kSides][kMaxSide][kMaxSide];
    int8_t taps[32][4];

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
        for (int f = 0; f < 32; ++f) {
            taps[f][0] = int8_t((-1024 * f + 64 * f * f - f * f * f + 512) >> 10);
            taps[f][1] = int8_t((65536 - 160 * f * f + 3 * f * f * f + 512) >> 10);
            taps[f][3] = int8_t((-32 * f * f + f * f * f + 512) >> 10);
            taps[f][2] = int8_t(64 - taps[f][0] - taps[f][1] - taps[f][3]);
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

// Rows of an angle of the vertical family; for the horizontal one the block is transposed.
template <int Width>
MMP_INLINE void interpolate(const int16_t* from, const int8_t* taps, int width, uint8_t* out) {
    const int c0 = taps[0], c1 = taps[1], c2 = taps[2], c3 = taps[3];
    for (int first = 0; first < width; first += Width)
        for (int j = first; j < first + Width; ++j)
            out[j] = clipped(
                (c0 * from[j] + c1 * from[j + 1] + c2 * from[j + 2] + c3 * from[j + 3] + 32) >> 6);
}

MMP_SIMD_LEVELS void predict_angle(int angle, const int16_t* main, const int16_t* side,
                                   int corner, int height, int width, const int8_t (*taps)[4],
                                   uint8_t* out) {
    constexpr int kBefore = 2 * kMaxSide;
    int16_t line[kBefore + 2 * kMaxSide + 8];
    int16_t* r = line + kBefore;
    const int length = height + width;
    r[0] = int16_t(corner);
    for (int i = 0; i < length; ++i) r[i + 1] = main[i];
    for (int i = length + 1; i < length + 4; ++i) r[i] = main[length - 1];
    const int slope = kAngle[angle];
    if (slope < 0) {
        const int steep = -slope;
        for (int k = 1; k <= ((height * steep) >> 5) + 2; ++k) {
            const int place = (k * 32 + steep / 2) / steep;
            r[-k] = side[smaller(place - 1, length - 1)];
        }
    }
    for (int i = 0; i < height; ++i) {
        const int position = (i + 1) * slope, f = position & 31;
        const int16_t* from = r + (position >> 5);
        uint8_t* row = out + i * width;
        if (width == 4)
            interpolate<4>(from, taps[f], width, row);
        else if (width == 8)
            interpolate<8>(from, taps[f], width, row);
        else
            interpolate<16>(from, taps[f], width, row);
    }
}

MMP_SIMD_LEVELS void transpose(const uint8_t* in, int height, int width, uint8_t* out) {
    for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) out[j * height + i] = in[i * width + j];
}

MMP_SIMD_LEVELS void predict_plane(const References& r, int height, int width, uint8_t* out) {
    const int shift = __builtin_ctz(height * width) + 1;
    for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) {
            const int across = (width - 1 - j) * r.left[i] + (j + 1) * r.above[width];
            const int down = (height - 1 - i) * r.above[j] + (i + 1) * r.left[height];
            out[i * width + j] =
                uint8_t((across * height + down * width + height * width) >> shift);
        }
}

}  // namespace

References References::smoothed(int length) const {
    References out;
    for (int i = 0; i < length; ++i) {
        const int after = i + 1 < length ? i + 1 : i;
        out.above[i] =
            int16_t(((i ? above[i - 1] : corner) + 2 * above[i] + above[after] + 2) >> 2);
        out.left[i] = int16_t(((i ? left[i - 1] : corner) + 2 * left[i] + left[after] + 2) >> 2);
    }
    out.corner = int16_t((above[0] + 2 * corner + left[0] + 2) >> 2);
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
        predict_plane(references, height, width, out);
    } else {
        const int angle = angle_of(mode);
        const bool straight = angle == kHorizontal || angle == kVertical;
        const References& r = straight || height + width < kSmoothedFrom ? references : smooth;
        if (angle >= kFirstVertical) {
            predict_angle(angle, r.above, r.left, r.corner, height, width, tables().taps, out);
        } else {
            uint8_t turned[kMaxBlockArea];
            predict_angle(angle, r.left, r.above, r.corner, width, height, tables().taps, turned);
            transpose(turned, width, height, out);
        }
    }
}

MMP_SIMD_LEVELS void subtract(const uint8_t* source, const uint8_t* prediction, int area,
                              int16_t* residual) {
    for (int i = 0; i < area; ++i) residual[i] = int16_t(source[i] - prediction[i]);
}

MMP_SIMD_LEVELS int32_t hadamard_difference(const uint8_t* source, const uint8_t* prediction,
                                            int a, int b) {
    const int height = 1 << a, width = 1 << b;
    int32_t sum = 0;
    int16_t t[4][kMaxSide];
    for (int y = 0; y < height; y += 4) {
        const uint8_t *s = source + y * width, *p = prediction + y * width;
        for (int x = 0; x < width; ++x) {
            const int16_t r0 = int16_t(s[x] - p[x]);
            const int16_t r1 = int16_t(s[x + width] - p[x + width]);
            const int16_t r2 = int16_t(s[x + 2 * width] - p[x + 2 * width]);
            const int16_t r3 = int16_t(s[x + 3 * width] - p[x + 3 * width]);
            const int16_t u = int16_t(r0 + r2), v = int16_t(r0 - r2);
            const int16_t m = int16_t(r1 + r3), n = int16_t(r1 - r3);
            t[0][x] = int16_t(u + m);
            t[1][x] = int16_t(u - m);
            t[2][x] = int16_t(v + n);
            t[3][x] = int16_t(v - n);
        }
        for (int k = 0; k < 4; ++k)
            for (int x = 0; x < width; x += 4) {
                const int u = t[k][x] + t[k][x + 2], v = t[k][x] - t[k][x + 2];
                const int m = t[k][x + 1] + t[k][x + 3], n = t[k][x + 1] - t[k][x + 3];
                const int e = u + m, f = u - m, g = v + n, h = v - n;
                sum += (e < 0 ? -e : e) + (f < 0 ? -f : f) + (g < 0 ? -g : g) + (h < 0 ? -h : h);
            }
    }
    return sum >> 1;
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
