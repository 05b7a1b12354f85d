#include "cpu/lossless/prediction.h"

#include <algorithm>
#include <bit>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

// Returns the integer quotient a / b, rounded toward zero, for |a| < 2^53 and b > 0. `inverse` is 1
// / b; floating point is much faster than integer division.
MMP_INLINE int64_t quotient(int64_t a, int64_t b, double inverse) {
    const int64_t near = int64_t(double(a) * inverse);
    const int64_t rest = a - near * b;  // off by one at most
    const int64_t under = (a >= 0) & (rest >= b), over = (a >= 0) & (rest < 0);
    const int64_t above = (a < 0) & (rest <= -b), below = (a < 0) & (rest > 0);
    return near + under - over - above + below;
}

}  // namespace

MMP_SIMD_LEVELS void solve(int64_t (*m)[kMostUnknowns + 1], int n, int32_t* weights) {
    // Rounding can make the equations singular. These limits keep all products within 63 bits.
    constexpr int64_t kMostFactor = int64_t{1} << 30, kMostValue = int64_t{1} << 30;
    double inverse[kMostUnknowns];
    for (int i = 0; i < n; ++i) {
        int64_t* pivot = m[i];
        for (int j = i; j <= n; ++j) pivot[j] = std::clamp(pivot[j], -kMostValue, kMostValue);
        pivot[i] = std::max(pivot[i], int64_t{16});
        inverse[i] = 1.0 / double(pivot[i]);
        int64_t factors[kMostUnknowns];
        for (int r = i + 1; r < n; ++r)
            factors[r] = std::clamp(quotient(pivot[r] * 65536, pivot[i], inverse[i]), -kMostFactor,
                                    kMostFactor);
        for (int r = i + 1; r < n; ++r)
            for (int j = r; j <= n; ++j) m[r][j] -= (factors[r] * pivot[j]) >> 16;
    }
    for (int i = n - 1; i >= 0; --i) {
        int64_t rest = m[i][n] << kWeightBits;
        for (int j = i + 1; j < n; ++j) rest -= m[i][j] * weights[j];
        const int64_t weight = quotient(rest, m[i][i], inverse[i]);
        weights[i] = int32_t(std::clamp<int64_t>(weight, -kMostWeight, kMostWeight));
    }
}

}  // namespace mmp
