#include "cpu/blocks/pixels.h"

#include <math.h>
#include <string.h>

#include <algorithm>

#include "cpu/runtime/simd.h"

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

// A row of an angle of the vertical family; for the horizontal one the block is transposed. Sums of
// the weighted samples stay within 16 bits where samples are bytes.
template <class Lanes, class Samples, class Sample>
MMP_INLINE void interpolate(const Wide<Sample>* from, const int8_t* taps, int width,
                            Depth<Sample> depth, Sample* out) {
    constexpr int kLanes = int(sizeof(Samples) / sizeof(Sample));
    const Wide<Sample> most = Wide<Sample>(depth.most());
    for (int first = 0; first < width; first += kLanes) {
        Lanes sum = Lanes{} + Wide<Sample>{32};
        for (int tap = 0; tap < 4; ++tap) {
            Lanes samples;
            memcpy(&samples, from + first + tap, sizeof samples);
            sum += samples * Wide<Sample>{taps[tap]};
        }
        sum >>= 6;
        sum = sum < 0 ? Lanes{} : sum;
        sum = sum > most ? Lanes{} + most : sum;
        const Samples row = __builtin_convertvector(sum, Samples);
        memcpy(out + first, &row, sizeof row);
    }
}

// So many samples, and their sums, side by side.
template <class Sample, int Count>
struct Row;
template <> struct Row<uint8_t, 4> { using Samples = Bytes4; using Lanes = Shorts4; };
template <> struct Row<uint8_t, 8> { using Samples = Bytes8; using Lanes = Shorts8; };
template <> struct Row<uint8_t, 16> { using Samples = Bytes16; using Lanes = Shorts16; };
template <> struct Row<uint16_t, 4> { using Samples = Words4; using Lanes = Ints4; };
template <> struct Row<uint16_t, 8> { using Samples = Words8; using Lanes = Ints8; };
template <> struct Row<uint16_t, 16> { using Samples = Words16; using Lanes = Ints16; };

template <int Count, class Sample>
MMP_INLINE void interpolate_by(const Wide<Sample>* from, const int8_t* taps, int width,
                               Depth<Sample> depth, Sample* out) {
    using R = Row<Sample, Count>;
    interpolate<typename R::Lanes, typename R::Samples>(from, taps, width, depth, out);
}

template <class Sample>
MMP_SIMD_LEVELS void predict_angle(int angle, const Wide<Sample>* main, const Wide<Sample>* side,
                                   int corner, int height, int width, Depth<Sample> depth,
                                   const Tables& tables, Sample* out) {
    constexpr int kBefore = 2 * kMaxSide;
    Wide<Sample> line[kBefore + 2 * kMaxSide + 8];
    Wide<Sample>* r = line + kBefore;
    const int length = height + width;
    r[0] = Wide<Sample>(corner);
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
        const Wide<Sample>* from = r + (position >> 5);
        Sample* row = out + i * width;
        if (width == 4)
            interpolate_by<4>(from, taps, width, depth, row);
        else if (width == 8)
            interpolate_by<8>(from, taps, width, depth, row);
        else
            interpolate_by<16>(from, taps, width, depth, row);
    }
}

template <class Sample>
MMP_SIMD_LEVELS void transpose(const Sample* in, int height, int width, Sample* out) {
    for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) out[j * height + i] = in[i * width + j];
}

template <class Sample>
MMP_SIMD_LEVELS void predict_plane(const References<Sample>& r, int a, int b, Sample* out) {
    const int height = 1 << a, width = 1 << b;
    for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j)
            out[i * width + j] = Sample(planar_sample(i, j, a, b, r.above[j], r.left[i],
                                                      r.above[width], r.left[height]));
}

}  // namespace

template <class Sample>
References<Sample> References<Sample>::smoothed(int length) const {
    using Value = Wide<Sample>;
    References out;
    for (int i = 0; i < length; ++i) {
        const int after = i + 1 < length ? i + 1 : i;
        out.above[i] = Value(mmp::smoothed(i ? above[i - 1] : corner, above[i], above[after]));
        out.left[i] = Value(mmp::smoothed(i ? left[i - 1] : corner, left[i], left[after]));
    }
    out.corner = Value(mmp::smoothed(above[0], corner, left[0]));
    return out;
}

template <class Sample>
void predict_block(int mode, const References<Sample>& references,
                   const References<Sample>& smooth, int a, int b, Depth<Sample> depth,
                   Sample* out) {
    const int height = 1 << a, width = 1 << b;
    if (mode == kConstant) {
        std::fill_n(out, height * width, Sample(depth.middle()));
    } else if (mode == kAverage) {
        int sum = 0;
        for (int j = 0; j < width; ++j) sum += references.above[j];
        for (int i = 0; i < height; ++i) sum += references.left[i];
        sum += (height + width) / 2;
        std::fill_n(out, height * width, Sample(sum / (height + width)));
    } else if (mode == kPlanar) {
        predict_plane(references, a, b, out);
    } else {
        const int angle = angle_of(mode);
        const bool straight = angle == kHorizontal || angle == kVertical;
        const auto& r = straight || height + width < kSmoothedFrom ? references : smooth;
        if (angle >= kFirstVertical) {
            predict_angle(angle, r.above, r.left, r.corner, height, width, depth, tables(), out);
        } else {
            Sample turned[kMaxBlockArea];
            predict_angle(angle, r.left, r.above, r.corner, width, height, depth, tables(),
                          turned);
            transpose(turned, width, height, out);
        }
    }
}

template <class Sample>
MMP_SIMD_LEVELS void subtract(const Sample* source, const Sample* prediction, int area,
                              Depth<Sample> depth, int16_t* residual) {
    const int unseen = depth.extra() - seen_bits(depth);
    for (int i = 0; i < area; ++i) residual[i] = int16_t((source[i] - prediction[i]) >> unseen);
}

namespace {

template <class Sample>
MMP_INLINE typename Row<Sample, 16>::Lanes difference_of(const Sample* x, const Sample* y) {
    using Lanes = typename Row<Sample, 16>::Lanes;
    typename Row<Sample, 16>::Samples a, b;
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    return __builtin_convertvector(a, Lanes) - __builtin_convertvector(b, Lanes);
}

// Of each two lanes that are Step apart, their sum and their difference.
template <int Step, class Lanes>
MMP_INLINE Lanes butterfly(Lanes v) {
    Lanes upper;  // -1 in the second of the two
    for (int lane = 0; lane < 16; ++lane) upper[lane] = lane & Step ? -1 : 0;
    return lanes_apart<Step>(v) + ((v ^ upper) - upper);
}

// Hadamard coefficients along each four lanes, without their signs.
template <class Lanes>
MMP_INLINE Lanes sizes_along(Lanes v) {
    v = butterfly<1>(butterfly<2>(v));
    return v < 0 ? -v : v;
}

// Sizes of all coefficients; sixteen samples of a piece, of a pair or of four pieces at a time.
template <int Width, class Sample>
MMP_INLINE int32_t hadamard_sizes(const Sample* s, const Sample* p, int height, int width) {
    using Lanes = typename Row<Sample, 16>::Lanes;
    Ints16 sums{};
    if constexpr (Width == 4) {
        for (int i = 0; i < 4 * height; i += 16) {
            const Lanes sizes =
                sizes_along(butterfly<4>(butterfly<8>(difference_of(s + i, p + i))));
            sums += __builtin_convertvector(sizes, Ints16);
        }
    } else if constexpr (Width == 8) {
        for (int i = 0; i < 8 * height; i += 32) {
            const Lanes upper = difference_of(s + i, p + i);
            const Lanes lower = difference_of(s + i + 16, p + i + 16);
            const Lanes sizes = sizes_along(butterfly<8>(upper + lower)) +
                                   sizes_along(butterfly<8>(upper - lower));
            sums += __builtin_convertvector(sizes, Ints16);
        }
    } else {
        for (int y = 0; y < height; y += 4)
            for (int i = y * width; i < (y + 1) * width; i += 16) {
                Lanes r[4];
                for (int k = 0; k < 4; ++k)
                    r[k] = difference_of(s + i + k * width, p + i + k * width);
                const Lanes u = r[0] + r[2], v = r[0] - r[2], m = r[1] + r[3], n = r[1] - r[3];
                const Lanes sizes = sizes_along(u + m) + sizes_along(u - m) +
                                       sizes_along(v + n) + sizes_along(v - n);
                sums += __builtin_convertvector(sizes, Ints16);
            }
    }
    int32_t sum = 0;
    for (int lane = 0; lane < 16; ++lane) sum += sums[lane];
    return sum;
}

}  // namespace

template <class Sample>
MMP_SIMD_LEVELS int32_t hadamard_difference(const Sample* source, const Sample* prediction, int a,
                                            int b) {
    const int height = 1 << a, width = 1 << b;
    switch (width) {
        case 4: return hadamard_sizes<4>(source, prediction, height, width) >> 1;
        case 8: return hadamard_sizes<8>(source, prediction, height, width) >> 1;
        default: return hadamard_sizes<16>(source, prediction, height, width) >> 1;
    }
}

template <class Sample>
MMP_SIMD_LEVELS int64_t squared_difference(const Sample* x, const Sample* y, int area) {
    // A square of 16-bit samples fills 32 bits without a sign.
    using Square = std::conditional_t<kIsByte<Sample>, int32_t, uint32_t>;
    LevelCost<Sample> sum = 0;
    for (int i = 0; i < area; ++i) {
        const Square d = x[i] - y[i];
        sum += d * d;
    }
    return sum;
}

// A matrix of 16-bit numbers, rows one after the other.
struct Matrix {
    const int16_t* data;
    int stride;
};

// sat((x y + half) >> shift) for `rows` rows of x, `length` columns of x and rows of y; 32-bit results
// are not limited. Four rows at a time share what is read of y.
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
    template struct References<Sample>;                                                            \
    template void predict_block(int, const References<Sample>&, const References<Sample>&, int,    \
                                int, Depth<Sample>, Sample*);                                      \
    template void subtract(const Sample*, const Sample*, int, Depth<Sample>, int16_t*);            \
    template int32_t hadamard_difference(const Sample*, const Sample*, int, int);                  \
    template int64_t squared_difference(const Sample*, const Sample*, int);                        \
    template void transform_inverse(const int16_t*, int, int, int, const Sample*, Depth<Sample>,   \
                                    Sample*);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
