#include "cpu/runtime/distortion.h"

#include <string.h>

#include "cpu/runtime/depth.h"
#include "cpu/runtime/hadamard.h"

namespace mmp {

namespace {

template <class Sample>
MMP_INLINE typename Row<Sample, 16>::Lanes difference_of(const Sample* x, const Sample* y) {
    using Lanes = typename Row<Sample, 16>::Lanes;
    typename Row<Sample, 16>::Samples a, b;
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    return __builtin_convertvector(a, Lanes) - __builtin_convertvector(b, Lanes);
}

// Sums the magnitudes of the Hadamard coefficients of all 4x4 pieces, 16 lanes at a time.
template <int Width, class Sample>
MMP_INLINE int32_t hadamard_sizes(const Sample* s, const Sample* p, int height, int width) {
    using Lanes = typename Row<Sample, 16>::Lanes;
    Ints16 sums{};
    if constexpr (Width == 4) {
        for (int i = 0; i < 4 * height; i += 16) {
            const Lanes sizes = hadamard_sizes_4(difference_of(s + i, p + i));
            sums += __builtin_convertvector(sizes, Ints16);
        }
    } else if constexpr (Width == 8) {
        for (int i = 0; i < 8 * height; i += 32) {
            const Lanes upper = difference_of(s + i, p + i);
            const Lanes lower = difference_of(s + i + 16, p + i + 16);
            const Lanes sizes = hadamard_sizes_8(upper, lower);
            sums += __builtin_convertvector(sizes, Ints16);
        }
    } else {
        for (int y = 0; y < height; y += 4)
            for (int i = y * width; i < (y + 1) * width; i += 16) {
                Lanes r[4];
                for (int k = 0; k < 4; ++k)
                    r[k] = difference_of(s + i + k * width, p + i + k * width);
                sums += __builtin_convertvector(hadamard_sizes_16(r), Ints16);
            }
    }
    return sum_of_lanes(sums);
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

#define MMP_INSTANTIATE(Sample)                                                                    \
    template int32_t hadamard_difference(const Sample*, const Sample*, int, int);                  \
    template int64_t squared_difference(const Sample*, const Sample*, int);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
