#include "cpu/blocks/search/seen_errors.h"

#include <math.h>

#include <algorithm>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

constexpr int kSide = kSeenSide;
constexpr double kShift = 1.0 / (1 << 21);  // from products of two bases to 1/8 of a sample's unit
constexpr double kPlain = 64;               // weight of frequency 0

struct Factors {
    double across[kSide][kSide];  // by sample, then frequency
    double down[kSide][kSide];    // by frequency, then sample
    double weights[kSide][kSide];
};

using Lanes = Vector<double, kSide>::Type;

// All numbers are integers below 2^53, which doubles hold exactly.
MMP_INLINE double error_of(const double (*difference)[kSide], const Factors& factors) {
    double half[kSide][kSide];
    for (int row = 0; row < kSide; ++row) {
        Lanes sums = {};
        for (int i = 0; i < kSide; ++i)
            sums += difference[row][i] * loaded<Lanes>(factors.across[i]);
        store(half[row], sums);
    }
    double errors[kSide] = {};
    for (int row = 0; row < kSide; ++row) {
        Lanes sums = {};
        for (int i = 0; i < kSide; ++i) sums += factors.down[row][i] * loaded<Lanes>(half[i]);
        double found[kSide];
        store(found, sums);
        for (int k = 0; k < kSide; ++k) {
            const double seen = floor(floor(found[k] * kShift) * kPlain / factors.weights[row][k]);
            errors[k] += seen * seen;
        }
    }
    double error = 0;
    for (const double each : errors) error += each;
    return error;
}

template <class Sample>
MMP_SIMD_LEVELS void of_rows(const Sample* source, const Sample* samples, int64_t height,
                             int64_t width, const Factors& factors, int64_t first, int64_t last,
                             int64_t* errors) {
    const int64_t columns = (width + kSide - 1) / kSide;
    double difference[kSide][kSide];
    for (int64_t row = first; row < last; ++row) {
        for (int64_t column = 0; column < columns; ++column) {
            const int rows = int(std::min<int64_t>(kSide, height - row * kSide));
            const int across = int(std::min<int64_t>(kSide, width - column * kSide));
            if (rows < kSide || across < kSide)
                std::fill_n(difference[0], kSide * kSide, 0.0);
            for (int i = 0; i < rows; ++i) {
                const int64_t start = (row * kSide + i) * width + column * kSide;
                for (int k = 0; k < across; ++k)
                    difference[i][k] = int(source[start + k]) - int(samples[start + k]);
            }
            errors[row * columns + column] = int64_t(error_of(difference, factors));
        }
    }
}

}  // namespace

template <class Sample>
void seen_errors(const Sample* source, const Sample* samples, int64_t height, int64_t width,
                 const SeenBasis& basis, const SeenWeights& weights, int64_t first, int64_t last,
                 int64_t* errors) {
    Factors factors;
    for (int i = 0; i < kSide; ++i) {
        for (int k = 0; k < kSide; ++k) {
            factors.down[i][k] = factors.across[k][i] = basis[i][k];
            factors.weights[i][k] = weights[i][k];
        }
    }
    of_rows(source, samples, height, width, factors, first, last, errors);
}

#define MMP_INSTANTIATE(Sample)                                                                  \
    template void seen_errors(const Sample*, const Sample*, int64_t, int64_t, const SeenBasis&, \
                              const SeenWeights&, int64_t, int64_t, int64_t*);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
