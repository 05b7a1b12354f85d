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

// Makes the coefficients below the diagonal zero. Returns whether the lanes are sure.
MMP_INLINE Longs4 StripFits::eliminate(int count) {
    for (int i = 0; i < count; ++i)
        for (int j = i; j <= count; ++j)
            for (int strip = 0; strip < kStrips; ++strip)
                rows_[i][j][strip] = double(m[i][j][strip]);
    Doubles4 worst{}, least = Doubles4{} + kMostChange;
    for (int i = 0; i < count; ++i) {
        const Doubles4 diagonal = row(i, i), inverse = kEnlarged / diagonal;
        least = smaller(least, diagonal);
        store(inverses_[i], inverse * kUnit);
        for (int r = i + 1; r <= count; ++r) {
            const Doubles4 value = row(i, r), quotient = size(value) * inverse;
            worst = larger(worst, size(value) * kUnit * quotient);
            const Doubles4 whole = quotient - kNearlyHalf + kRaised - kRaised;
            const Doubles4 factor = Doubles4(Longs4(whole) | (Longs4(value) & kSign)) * kUnit;
            if (r == count) break;
            for (int j = r; j <= count; ++j) {
                const Doubles4 change = factor * row(i, j) - kAlmostHalf + kRaised - kRaised;
                store(rows_[r][j], row(r, j) - change);
            }
        }
    }
    return (least >= 16) & (worst <= kMostChange);
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
