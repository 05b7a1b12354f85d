// Compares the exact doubles of Fit with equations solved in 64-bit integers alone, on equations
// at the edges of its proof. Prints how many it compared, how often a limit of the format mattered,
// and fails at the first difference. Usage: fit COUNT
#include "cpu/lossless/fit.h"
#include "cpu/lossless/strip_fit.h"

#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <memory>
#include <random>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

using namespace mmp;

namespace {

std::mt19937_64 source(1);

int64_t any(int64_t low, int64_t high) {
    return low + int64_t(source() % uint64_t(high - low + 1));
}
// A number whose count of digits is as likely as any other.
int64_t any_size(int bits) { return any(0, (int64_t{1} << any(0, bits)) - 1); }
int64_t signed_any(int64_t size) { return any(0, 1) ? size : -size; }

constexpr int kMost = 40;  // regressors, more than there are

// The equations of a sample as the format has them, before ridge and prior are added.
struct Equations {
    int n, bits;
    int64_t matrix[kMost][kMost] = {};  // the upper triangle
    int64_t targets[kMost] = {};
    int32_t regressors[kMost] = {};
};

// Section "Weights" of docs/format/format.md, in integers. Counts the values that a limit changes.
int integer_drift(const Equations& e, int64_t& limited) {
    const auto limit = [&](int64_t value, int64_t most) {
        limited += value < -most || value > most;
        return std::clamp(value, -most, most);
    };
    constexpr int kPrior[4] = {5, 5, -3, 1};
    const int n = e.n;
    const int64_t ridge = std::max<int64_t>(256, e.bits < 4 ? 0 : int64_t{3} << (2 * e.bits - 6));
    int64_t most = 0, m[kMost][kMost + 1], weights[kMost];
    for (int i = 0; i < n; ++i) most = std::max(most, e.matrix[i][i] + ridge);
    int shift = 0;
    while (most >> shift >> 29) ++shift;
    for (int i = 0; i < n; ++i) {
        for (int j = i; j < n; ++j) m[i][j] = (e.matrix[i][j] + (i == j ? ridge : 0)) >> shift;
        m[i][n] = (e.targets[i] + (i < 4 ? (ridge * kPrior[i]) >> 3 : 0)) >> shift;
    }
    for (int i = 0; i < n; ++i) {
        for (int j = i; j <= n; ++j) m[i][j] = limit(m[i][j], int64_t{1} << 30);
        limited += m[i][i] < 16;
        m[i][i] = std::max<int64_t>(m[i][i], 16);
        for (int r = i + 1; r < n; ++r) {
            const int64_t factor = limit(m[i][r] * 65536 / m[i][i], int64_t{1} << 30);
            for (int j = r; j <= n; ++j) m[r][j] -= (factor * m[i][j]) >> 16;
        }
    }
    int64_t sum = 0;
    for (int i = n - 1; i >= 0; --i) {
        int64_t rest = m[i][n] * (1 << kWeightBits);
        for (int j = i + 1; j < n; ++j) rest -= m[i][j] * weights[j];
        weights[i] = limit(rest / m[i][i], kMostWeight);
        sum += weights[i] * e.regressors[i];
    }
    constexpr int kDropped = kWeightBits - kFractionBits;
    return int((sum + (1 << (kDropped - 1))) >> kDropped);
}

// Sums of products of a few samples, as real pictures have them: noise, edges of the largest
// height, or regressors that are nearly multiples of each other. With errors of the fading.
void from_samples(Equations& e) {
    const int64_t most = (int64_t{1} << e.bits) - 1, kind = any(0, 3), error = any_size(8);
    const int samples = int(any(0, 2 * e.n));
    for (int k = 0; k < samples; ++k) {
        int64_t u[kMost + 1];
        for (int64_t& value : u)
            value = kind == 0 ? signed_any(any(0, most))
                    : kind == 1 ? signed_any(most)
                    : kind == 2 ? signed_any(any_size(e.bits))
                                : std::clamp(u[0] + any(-1, 1), -most, most);
        if (kind == 3)
            for (int i = 1; i <= e.n; ++i) u[i] = std::clamp(u[0] + any(-1, 1), -most, most);
        for (int i = 0; i < e.n; ++i) {
            for (int j = i; j < e.n; ++j) e.matrix[i][j] += 47 * 256 * u[i] * u[j] / samples;
            e.targets[i] += 47 * 256 * u[i] * u[e.n] / samples;
        }
    }
    for (int i = 0; i < e.n; ++i)
        for (int j = i + 1; j < e.n; ++j) e.matrix[i][j] += any(-error, error);
}

// Any matrix below the bound of the sums: far more than samples can give.
void from_nothing(Equations& e, int bits) {
    for (int i = 0; i < e.n; ++i) {
        for (int j = i; j < e.n; ++j) e.matrix[i][j] = signed_any(any_size(bits));
        e.matrix[i][i] = std::abs(e.matrix[i][i]);
        e.targets[i] = signed_any(any_size(bits));
    }
}

// Values on the diagonal of all sizes; beside it the largest that leave the equations definite, or
// multiples of the diagonal, so that quotients are whole or miss a whole number by the least.
void at_edges(Equations& e, int bits) {
    const int64_t reach = any(1, 4), least = any(0, bits - 4);
    for (int i = 0; i < e.n; ++i)
        e.matrix[i][i] = any(0, 1) ? (int64_t{1} << any(least, bits)) - any(0, 1)
                                   : (int64_t{1} << least) + any_size(bits - 1);
    for (int i = 0; i < e.n; ++i) {
        for (int j = i + 1; j < e.n; ++j) {
            const double both = sqrt(double(e.matrix[i][i]) * double(e.matrix[j][j]));
            const int64_t largest = int64_t(both) / (any(0, reach) ? e.n : 1);
            const int64_t size = any(0, 2) ? any(0, largest) : largest;
            const int64_t whole = size - size % std::max<int64_t>(e.matrix[i][i] >> 8, 1);
            e.matrix[i][j] = signed_any(any(0, 1) ? size : std::max<int64_t>(whole - any(0, 1), 0));
        }
        const int64_t weight = any(0, 1) ? kMostWeight >> any(0, 17) : any_size(18);
        const int64_t side = int64_t(double(e.matrix[i][i]) * double(weight) / (1 << kWeightBits));
        e.targets[i] = signed_any(std::min(side + any(-1, 1), (int64_t{1} << bits) - 1));
    }
}

template <class Sum, int N>
Equations any_equations() {
    constexpr bool kNarrow = sizeof(Sum) == 4;
    constexpr int kBits = kNarrow ? 29 : 45;
    Equations e{.n = N, .bits = int(any(1, kNarrow ? 8 : 16))};
    const int64_t kind = any(0, 3);
    if (kind < 2) from_samples(e);
    else if (kind == 2) at_edges(e, any(0, 1) ? kBits : int(any(8, kBits)));
    else from_nothing(e, any(0, 1) ? kBits : int(any(1, kBits)));
    const int64_t most = (int64_t{1} << e.bits) - 1;
    for (int i = 0; i < N; ++i) e.regressors[i] = int32_t(any(0, 1) ? any(-most, most) : most);
    return e;
}

template <class Sum>
void compare(int64_t& limited) {
    constexpr int N = kNearRegressors;
    const Equations e = any_equations<Sum, N>();
    int64_t changed = 0;
    const int expected = integer_drift(e, changed);
    limited += changed != 0;

    const auto fit = std::make_unique<Fit<Sum>>(e.bits), next = std::make_unique<Fit<Sum>>(1);
    alignas(64) Sum targets[N];
    for (Fit<Sum>* one : {fit.get(), next.get()})
        std::fill_n(one->matrix(), kSumPlaces.size, Sum{0});
    for (int i = 0; i < N; ++i)
        for (int j = i; j < N; ++j)
            fit->matrix()[kSumPlaces.start[i] + j - i] = Sum(e.matrix[i][j]);
    std::copy_n(e.targets, N, targets);
    Regressors regressors;
    std::copy_n(e.regressors, N, regressors.lanes);
    fit->begin();
    next->begin();
    fit->eliminate_all();
    const int found = fit->drift(targets, regressors, *next);
    if (found == expected) return;
    printf("%d regressors, %d bits: %d instead of %d\n", N, e.bits, found, expected);
    exit(1);
}

// Four strips at once, as a row of strips has them.
template <int N>
void compare_strips(int64_t& limited) {
    const auto fits = std::make_unique<StripFits>();
    Equations strips[StripFits::kStrips];
    for (int s = 0; s < StripFits::kStrips; ++s) {
        const Equations& e = strips[s] = any_equations<int64_t, N>();
        const int64_t ridge =
            std::max<int64_t>(256, e.bits < 4 ? 0 : int64_t{3} << (2 * e.bits - 6));
        constexpr int64_t kPrior[4] = {5, 5, -3, 1};
        int64_t most = 0;
        for (int i = 0; i < N; ++i) most = std::max(most, e.matrix[i][i] + ridge);
        const int shift = std::max(0, 35 - std::countl_zero(uint64_t(most)));
        for (int i = 0; i < N; ++i) {
            for (int j = i; j < N; ++j)
                fits->m[i][j][s] = (e.matrix[i][j] + (i == j ? ridge : 0)) >> shift;
            fits->m[i][N][s] = (e.targets[i] + (i < 4 ? ridge * kPrior[i] >> 3 : 0)) >> shift;
        }
    }
    int32_t weights[kMostUnknowns][StripFits::kStrips];
    fits->solve_all(N, weights);
    for (int s = 0; s < StripFits::kStrips; ++s) {
        int64_t changed = 0, sum = 0;
        const int expected = integer_drift(strips[s], changed);
        limited += changed != 0;
        for (int i = 0; i < N; ++i) sum += int64_t{weights[i][s]} * strips[s].regressors[i];
        const int found = int((sum + 128) >> 8);
        if (found == expected) continue;
        printf("strip of %d regressors, %d bits: %d instead of %d\n", N, strips[s].bits, found,
               expected);
        exit(1);
    }
}

}  // namespace

int main(int, char** arguments) {
#ifdef __SSE2__
    // A host may have numbers near zero flushed; none occur.
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
    const int64_t count = atoll(arguments[1]);
    int64_t limited = 0;
    for (int64_t i = 0; i < count; ++i) {
        compare<int32_t>(limited), compare<int64_t>(limited);
    }
    for (int64_t i = 0; i < count / 4; ++i)
        compare_strips<18>(limited), compare_strips<21>(limited), compare_strips<39>(limited);
    printf("%" PRId64 " equations, %" PRId64 " met a limit\n", 5 * count, limited);
}
