#include "cpu/lossless/strip_fit.h"

#include "cpu/lossless/fit.h"

namespace mmp {

namespace {

constexpr double kRaised = 3.0 * (int64_t{1} << 51), kMostChange = 2147483648.0;
constexpr double kUnit = 1.0 / 65536, kAlmostHalf = 0.5 - kUnit / 2;
constexpr double kNearlyHalf = 0.5 - 1.0 / (int64_t{1} << 31);
constexpr double kEnlarged = 65536 * (1 + 1.0 / (int64_t{1} << 50));
constexpr int64_t kSign = int64_t(uint64_t{1} << 63);

MMP_INLINE Doubles4 larger(Doubles4 a, Doubles4 b) { return a > b ? a : b; }
MMP_INLINE Doubles4 smaller(Doubles4 a, Doubles4 b) { return a < b ? a : b; }
MMP_INLINE Doubles4 size(Doubles4 v) { return Doubles4(Longs4(v) & ~kSign); }

}  // namespace

// Makes the coefficients below the diagonal zero, row by row: a row gets its changes by all rows
// above it while it is in registers. Returns whether the lanes are sure.
MMP_INLINE Longs4 StripFits::eliminate(int count) {
    Doubles4 worst{}, least = Doubles4{} + kMostChange;
    for (int r = 0; r < count; ++r) {
        int j = r;
        for (; j + kSide <= count + 1; j += kSide) reduce<kSide>(r, j);
        for (; j <= count; ++j) reduce<1>(r, j);
        const Doubles4 diagonal = row(r, r), inverse = kEnlarged / diagonal;
        least = smaller(least, diagonal);
        store(inverses_[r], inverse * kUnit);
        for (int k = r + 1; k <= count; ++k) {
            const Doubles4 value = row(r, k), quotient = size(value) * inverse;
            worst = larger(worst, size(value) * kUnit * quotient);
            if (k == count) break;
            // Its factor for row k takes the place of the coefficient that becomes zero.
            const Doubles4 whole = quotient - kNearlyHalf + kRaised - kRaised;
            store(rows_[k][r], Doubles4(Longs4(whole) | (Longs4(value) & kSign)) * kUnit);
        }
    }
    return (least >= 16) & (worst <= kMostChange);
}

// Finds the coefficients from column j on of row r. A difference from a raised number is rounded to
// an integer.
template <int Columns>
MMP_INLINE void StripFits::reduce(int r, int j) {
    Doubles4 raised[Columns];
    for (int k = 0; k < Columns; ++k)
        raised[k] = __builtin_convertvector(loaded<Longs4>(m[r][j + k]), Doubles4) + kRaised;
    for (int i = 0; i < r; ++i) {
        const Doubles4 factor = row(r, i);
        for (int k = 0; k < Columns; ++k) raised[k] -= factor * row(i, j + k) - kAlmostHalf;
    }
    for (int k = 0; k < Columns; ++k) store(rows_[r][j + k], raised[k] - kRaised);
}

MMP_INLINE Longs4 StripFits::substitute(int count, int32_t (*weights)[kStrips]) {
    Doubles4 found[kMostUnknowns], farthest{};
    for (int i = count - 1; i >= 0; --i) {
        Doubles4 rest = row(i, count) * (1 << kWeightBits);
        for (int j = i + 1; j < count; ++j) rest -= row(i, j) * found[j];
        const Doubles4 quotient = rest * loaded<Doubles4>(inverses_[i]);
        for (int strip = 0; strip < kStrips; ++strip)
            found[i][strip] = __builtin_trunc(quotient[strip]);
        farthest = larger(farthest, size(found[i]));
        for (int strip = 0; strip < kStrips; ++strip)
            weights[i][strip] = size(found[i])[strip] <= kMostWeight ? int32_t(found[i][strip]) : 0;
    }
    return farthest <= double(kMostWeight);
}

void StripFits::solve_one(int count, int strip, int32_t (*weights)[kStrips]) const {
    int64_t own[kMostUnknowns][kMostUnknowns + 1];
    int32_t found[kMostUnknowns];
    for (int i = 0; i < count; ++i)
        for (int j = i; j <= count; ++j) own[i][j] = m[i][j][strip];
    solve(own, count, found);
    for (int i = 0; i < count; ++i) weights[i][strip] = found[i];
}

MMP_SIMD_LEVELS void StripFits::solve_all(int count, int32_t (*weights)[kStrips]) {
    const Longs4 sure = eliminate(count) & substitute(count, weights);
    for (int strip = 0; strip < kStrips; ++strip)
        if (!kExactDoubles || !sure[strip]) [[unlikely]] solve_one(count, strip, weights);
}

}  // namespace mmp
