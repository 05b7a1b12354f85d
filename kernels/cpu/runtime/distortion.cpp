#include "cpu/runtime/distortion.h"

#include "cpu/runtime/hadamard.h"
#include "shared/integers.h"

namespace mmp {

namespace {

template <class Lanes, class Sample>
MMP_INLINE Lanes difference_of(const Sample* x, const Sample* y) {
    using Samples = typename Row<Sample, 16>::Samples;
    return __builtin_convertvector(loaded<Samples>(x), Lanes) -
           __builtin_convertvector(loaded<Samples>(y), Lanes);
}

// Sums the absolute Hadamard coefficients of all 4x4 pieces, 16 lanes at a time.
template <int Width, class Lanes, class Sample>
MMP_INLINE int32_t hadamard_sizes(const Sample* s, const Sample* p, int height, int width) {
    Ints8 sums{};
    if constexpr (Width == 4) {
        for (int i = 0; i < 4 * height; i += 16)
            sums += sums_of_two(hadamard_sizes_4(difference_of<Lanes>(s + i, p + i)));
    } else if constexpr (Width == 8) {
        for (int i = 0; i < 8 * height; i += 32) {
            const auto upper = difference_of<Lanes>(s + i, p + i);
            const auto lower = difference_of<Lanes>(s + i + 16, p + i + 16);
            sums += sums_of_two(hadamard_sizes_8(upper, lower));
        }
    } else {
        for (int y = 0; y < height; y += 4)
            for (int i = y * width; i < (y + 1) * width; i += 16) {
                Lanes r[4];
                for (int k = 0; k < 4; ++k)
                    r[k] = difference_of<Lanes>(s + i + k * width, p + i + k * width);
                sums += sums_of_two(hadamard_sizes_16(r));
            }
    }
    return sum_of_lanes(sums);
}

template <class Lanes, class Sample>
MMP_INLINE int32_t half_of_sizes(const Sample* source, const Sample* prediction, int a, int b) {
    const int height = 1 << a, width = 1 << b;
    switch (width) {
        case 4: return hadamard_sizes<4, Lanes>(source, prediction, height, width) >> 1;
        case 8: return hadamard_sizes<8, Lanes>(source, prediction, height, width) >> 1;
        default: return hadamard_sizes<16, Lanes>(source, prediction, height, width) >> 1;
    }
}

}  // namespace

template <class Sample>
MMP_SIMD_LEVELS int32_t hadamard_difference(const Sample* source, const Sample* prediction, int a,
                                            int b, Depth<Sample> depth) {
    if (depth.bits() <= kShortSizes) return half_of_sizes<Shorts16>(source, prediction, a, b);
    return half_of_sizes<typename Row<Sample, 16>::Lanes>(source, prediction, a, b);
}

template <class Sample>
MMP_SIMD_LEVELS int64_t squared_difference(const Sample* x, const Sample* y, int area,
                                           Depth<Sample> depth) {
    // kSummedAtOnce squares of 10-bit samples fit 32 bits; so does one square of 16-bit samples,
    // unsigned.
    constexpr int kShortSquares = 10, kSummedAtOnce = 1024;
    int64_t sum = 0;
    if (depth.bits() > kShortSquares) {
        for (int i = 0; i < area; ++i) {
            const uint32_t d = x[i] - y[i];
            sum += d * d;
        }
        return sum;
    }
    for (int first = 0; first < area; first += kSummedAtOnce) {
        int32_t part = 0;
        for (int i = first; i < smaller(first + kSummedAtOnce, area); ++i) {
            const auto d = int16_t(x[i] - y[i]);
            part += d * d;
        }
        sum += part;
    }
    return sum;
}

#define MMP_INSTANTIATE(Sample)                                                                    \
    template int32_t hadamard_difference(const Sample*, const Sample*, int, int, Depth<Sample>);   \
    template int64_t squared_difference(const Sample*, const Sample*, int, Depth<Sample>);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
