#include "cpu/blocks/transform.h"

#include <math.h>

#include <algorithm>

#include "cpu/blocks/products/products.h"
#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

// Indexed by transform type, side, frequency and sample; `turned` by sample and frequency
// (transposed).
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

template <class Lanes>
MMP_INLINE void fold_by(const int16_t* rows, int height, int width, int16_t* sums,
                        int16_t* differences) {
    constexpr int kCount = sizeof(Lanes) / sizeof(int16_t);
    for (int i = 0; i < height / 2; ++i) {
        const int16_t *upper = rows + i * width, *lower = rows + (height - 1 - i) * width;
        for (int j = 0; j < width; j += kCount) {
            const auto above = loaded<Lanes>(upper + j), below = loaded<Lanes>(lower + j);
            store(sums + i * width + j, above + below);
            store(differences + i * width + j, above - below);
        }
    }
}

// Butterfly: writes the sum and the difference of each row and its mirror image about the middle
// row.
MMP_SIMD_LEVELS void fold_rows(const int16_t* rows, int height, int width, int16_t* sums,
                               int16_t* differences) {
    if (width == 4)
        fold_by<Shorts4>(rows, height, width, sums, differences);
    else if (width == 8)
        fold_by<Shorts8>(rows, height, width, sums, differences);
    else
        fold_by<Shorts16>(rows, height, width, sums, differences);
}

void transform_forward(const int16_t* residual, int a, int b, Bases bases, int extra,
                       int16_t* coefficients) {
    const int height = 1 << a, width = 1 << b;
    const int rows = smaller(height, kCodedSide), columns = smaller(width, kCodedSide);
    const int16_t* down = tables().basis[bases.down][a - kMinSideLog2][0];
    const Matrix across{tables().turned[bases.across][b - kMinSideLog2][0], kMaxSide};
    const int shift = kBasisBits - kCoefficientBits + extra;
    const ProductKernel& kernel = products();
    int16_t half[kCodedSide * kMaxSide];
    if (bases.down == kCosine && extra < kMostSeenBits) {
        // Basis functions of even frequencies are symmetric, of odd frequencies antisymmetric, so
        // half of the products are enough.
        int16_t sums[kMaxBlockArea / 2], differences[kMaxBlockArea / 2];
        fold_rows(residual, height, width, sums, differences);
        kernel.to_words({down, 2 * kMaxSide}, {sums, width}, rows / 2, width, height / 2, shift,
                        half, 2 * width);
        kernel.to_words({down + kMaxSide, 2 * kMaxSide}, {differences, width}, rows / 2, width,
                        height / 2, shift, half + width, 2 * width);
    } else {
        kernel.to_words({down, kMaxSide}, {residual, width}, rows, width, height, shift, half,
                        width);
    }
    kernel.to_words({half, width}, across, rows, columns, width, kBasisBits, coefficients,
                    columns);
}

void skip_forward(const int16_t* residual, int a, int b, int extra, int16_t* coefficients) {
    const int area = 1 << (a + b), half = 1 << extra >> 1;
    for (int i = 0; i < area; ++i)
        coefficients[area - 1 - i] =
            int16_t(saturated((residual[i] * (1 << kCoefficientBits) + half) >> extra));
}

// dequantised() of each level, vectorised; products of 15 and 16 bits fit 32 bits.
MMP_SIMD_LEVELS void dequantise(const int16_t* levels, int count, int32_t step,
                                int16_t* coefficients) {
    for (int i = 0; i < count; ++i) {
        const int32_t level = levels[i], size = level < 0 ? -level : level;
        const int32_t value = smaller((size * step + 1) >> 1, kMaxCoefficient);
        coefficients[i] = int16_t(level < 0 ? -value : value);
    }
}

Extent extent_of(const int16_t* coefficients, int a, int b) {
    const int columns = smaller(1 << b, kCodedSide);
    int rows = smaller(1 << a, kCodedSide), used = columns;
    const auto any = [&](int from, int step, int count) {
        for (int i = 0; i < count; ++i)
            if (coefficients[from + i * step]) return true;
        return false;
    };
    while (rows > 1 && !any((rows - 1) * columns, 1, columns)) --rows;
    while (used > 1 && !any(used - 1, columns, rows)) --used;
    return {rows, used};
}

namespace {

// Adds residuals, of which each row begins `step` after the one before, to a prediction in vectors
// of Count samples. With a step of 0, all residuals are equal.
template <int Count, class Sample, class Residual>
MMP_INLINE void add_by(const Sample* prediction, const Residual* residual, int step, int height,
                       int width, Depth<Sample> depth, Sample* out, ptrdiff_t stride) {
    using Samples = typename Row<Sample, Count>::Samples;
    using Residuals = typename Vector<Residual, Count>::Type;
    using Lanes = typename Vector<int32_t, Count>::Type;
    const Lanes most = Lanes{} + depth.most();
    for (int i = 0; i < height; ++i, prediction += width, residual += step, out += stride)
        for (int j = 0; j < width; j += Count) {
            const auto given = __builtin_convertvector(loaded<Samples>(prediction + j), Lanes);
            const auto added = loaded<Residuals>(residual + (step ? j : 0));
            const Lanes value = given + __builtin_convertvector(added, Lanes);
            const Lanes low = value < 0 ? Lanes{} : value;
            store(out + j, __builtin_convertvector(low < most ? low : most, Samples));
        }
}

template <class Sample, class Residual>
MMP_SIMD_LEVELS void add_residual(const Sample* prediction, const Residual* residual, int step,
                                  int height, int width, Depth<Sample> depth, Sample* out,
                                  ptrdiff_t stride) {
    if (width == 4)
        add_by<4>(prediction, residual, step, height, width, depth, out, stride);
    else if (width == 8)
        add_by<8>(prediction, residual, step, height, width, depth, out, stride);
    else
        add_by<16>(prediction, residual, step, height, width, depth, out, stride);
}

// Most bits per sample for which residuals may saturate at 16 bits, because samples do before.
constexpr int kShortResiduals = 15;

// Products have an even length and a multiple of four columns.
int even(int count) { return (count + 1) & ~1; }
int fours(int count) { return (count + 3) & ~3; }

}  // namespace

template <class Sample>
void transform_inverse(const int16_t* coefficients, Extent extent, int a, int b, Bases bases,
                       const Sample* prediction, Depth<Sample> depth, Sample* out,
                       ptrdiff_t stride) {
    const int height = 1 << a, width = 1 << b;
    const int columns = smaller(width, kCodedSide);
    const int rows = even(extent.rows), used = even(extent.columns);
    const Matrix down{tables().turned[bases.down][a - kMinSideLog2][0], kMaxSide};
    const Matrix across{tables().basis[bases.across][b - kMinSideLog2][0], kMaxSide};
    const ProductKernel& kernel = products();
    const int shift = kBasisBits + kCoefficientBits - depth.extra();
    if (depth.bits() > kShortResiduals) {
        int16_t half[kMaxSide * kCodedSide];
        int32_t residual[kMaxBlockArea];
        kernel.to_words(down, {coefficients, columns}, height, fours(used), rows, kBasisBits, half,
                        columns);
        kernel.to_ints({half, columns}, across, height, width, used, shift, residual, width);
        return add_residual(prediction, residual, width, height, width, depth, out, stride);
    }
    if (extent.rows == 1 && extent.columns == 1 && bases.down == kCosine &&
        bases.across == kCosine) {
        // The first cosine is constant, and so is the residual.
        const auto product = [](int32_t value, int32_t factor, int bits) {
            return saturated((value * factor + (1 << (bits - 1))) >> bits);
        };
        int16_t residual[16];
        std::fill_n(residual, 16, int16_t(product(product(coefficients[0], *down.data, kBasisBits),
                                                  *across.data, shift)));
        return add_residual(prediction, residual, 0, height, width, depth, out, stride);
    }
    int16_t half[kMaxSide * kCodedSide], residual[kMaxBlockArea];
    kernel.to_words(down, {coefficients, columns}, height, fours(used), rows, kBasisBits, half,
                    columns);
    kernel.to_words({half, columns}, across, height, width, used, shift, residual, width);
    add_residual(prediction, residual, width, height, width, depth, out, stride);
}

template <class Sample>
void skip_inverse(const int16_t* coefficients, int a, int b, const Sample* prediction,
                  Depth<Sample> depth, Sample* out, ptrdiff_t stride) {
    const int height = 1 << a, width = 1 << b, area = height * width;
    const int32_t unit = 1 << depth.extra(), half = 1 << (kCoefficientBits - 1);
    int32_t residual[1 << (2 * kMaxSineLog2)];
    for (int i = 0; i < area; ++i)
        residual[i] = (coefficients[area - 1 - i] * unit + half) >> kCoefficientBits;
    add_residual(prediction, residual, width, height, width, depth, out, stride);
}

#define MMP_INSTANTIATE(Sample)                                                                    \
    template void subtract(const Sample*, const Sample*, int, Depth<Sample>, int16_t*);            \
    template void transform_inverse(const int16_t*, Extent, int, int, Bases, const Sample*,        \
                                    Depth<Sample>, Sample*, ptrdiff_t);                            \
    template void skip_inverse(const int16_t*, int, int, const Sample*, Depth<Sample>, Sample*,    \
                               ptrdiff_t);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
