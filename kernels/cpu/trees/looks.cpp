#include "cpu/trees/looks.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "cpu/runtime/simd.h"
#include "shared/trees/redundancy.h"

namespace mmp {

namespace {

using Product = unsigned __int128;

MMP_INLINE uint64_t word_at(const uint8_t* samples, size_t bytes = 8) {
    uint64_t word = 0;
    std::memcpy(&word, samples, bytes);
    return word;
}

MMP_INLINE uint64_t mixed(uint64_t a, uint64_t b) {
    const Product product = static_cast<Product>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Random key of the hash, drawn once per process: a file cannot contain elements that were chosen
// to collide.
struct Key {
    static constexpr int kWords = kFragmentArea / 8;
    uint64_t word[kWords], last;

    Key() {
        std::random_device random;
        const auto draw = [&] { return uint64_t{random()} << 32 | random(); };
        std::generate_n(word, kWords, draw);
        last = draw() | 1;
    }
};

const Key kKey;

// Keyed hash after NH (Black, Halevi, Krawczyk, Krovetz, Rogaway: UMAC, 1999), with XOR in place of
// addition. The multiplications are independent, so they pipeline.
template <int Area>
MMP_INLINE uint32_t hash_of(const uint8_t* samples) {
    uint64_t state = 0;
    if constexpr (Area <= 8) {
        state = word_at(samples, Area) ^ kKey.word[0];
    } else {
        for (int i = 0; i < Area; i += 16)
            state += mixed(word_at(samples + i) ^ kKey.word[i / 8],
                           word_at(samples + i + 8) ^ kKey.word[i / 8 + 1]);
    }
    return static_cast<uint32_t>(mixed(state, kKey.last) >> 32);
}

// Butterfly reduction: adds lanes whose numbers differ in the bits of Mask; each lane gets the sum.
template <int Mask>
MMP_INLINE Shorts16 folded(Shorts16 lanes) {
    if constexpr (Mask & 1) lanes += lanes_apart<1>(lanes);
    if constexpr (Mask & 2) lanes += lanes_apart<2>(lanes);
    if constexpr (Mask & 4) lanes += lanes_apart<4>(lanes);
    if constexpr (Mask & 8) lanes += lanes_apart<8>(lanes);
    return lanes;
}

MMP_INLINE Shorts16 lanes_at(const uint8_t* samples) {
    Bytes16 bytes;
    std::memcpy(&bytes, samples, sizeof bytes);
    return __builtin_convertvector(bytes, Shorts16);
}

// Writes the sums of the halves or quarters of an element: sums[2 * k + l] for part (k, l).
template <int Height, int Width>
MMP_INLINE void sum_parts(const uint8_t* samples, int16_t* sums) {
    constexpr int kArea = Height * Width;
    // Bit of the sample number that distinguishes left from right, and upper from lower half.
    constexpr int kRight = Width / 2, kLower = Height > 1 ? kArea / 2 : 0;
    if constexpr (kArea < 16) {
        for (int part = 0; part < 4; ++part) sums[part] = 0;
        for (int i = 0; i < kArea; ++i)
            sums[(i & kLower ? 2 : 0) + (i & kRight ? 1 : 0)] += samples[i];
    } else if constexpr (kArea == 16) {
        const Shorts16 lanes = folded<15 & ~kRight & ~kLower>(lanes_at(samples));
        for (int k = 0; k < 2; ++k)
            for (int l = 0; l < 2; ++l)
                sums[2 * k + l] = (k && !kLower) || (l && !kRight) ? 0 : lanes[k * kLower + l * kRight];
    } else {
        for (int k = 0; k < 2; ++k) {
            Shorts16 lanes{};
            for (int i = 0; i < kLower; i += 16) lanes += lanes_at(samples + k * kLower + i);
            lanes = folded<15 & ~kRight>(lanes);
            sums[2 * k] = lanes[0];
            sums[2 * k + 1] = lanes[kRight];
        }
    }
}

template <int Scale>
MMP_INLINE void look_at_scale(const uint8_t* samples, int count, Look* looks) {
    constexpr int kHeight = scale_height(Scale), kWidth = scale_width(Scale);
    constexpr int kMeanShift = area_log2(Scale) - quarters_down(Scale) - quarters_across(Scale);
    for (int i = 0; i < count; ++i, samples += kHeight * kWidth) {
        looks[i].hash = hash_of<kHeight * kWidth>(samples);
        int16_t sums[kParts];
        sum_parts<kHeight, kWidth>(samples, sums);
        int cell = 0;
        for (int k = 0; k <= quarters_down(Scale); ++k)
            for (int l = 0; l <= quarters_across(Scale); ++l)
                cell = cell << 2 | quarter_level(Scale, sums[2 * k + l]);
        looks[i].parts.cell = static_cast<uint8_t>(cell);
        for (int part = 0; part < kParts; ++part)
            looks[i].parts.means[part] = static_cast<uint8_t>(sums[part] >> kMeanShift);
    }
}

}  // namespace

#define MMP_CASE(scale) \
    case scale: return look_at_scale<scale>(samples, count, looks);
#define MMP_CASES(first)                                                          \
    MMP_CASE(first) MMP_CASE(first + 1) MMP_CASE(first + 2) MMP_CASE(first + 3) \
    MMP_CASE(first + 4)

MMP_SIMD_LEVELS void look_at(int scale, const uint8_t* samples, int count, Look* looks) {
    switch (scale) { MMP_CASES(0) MMP_CASES(5) MMP_CASES(10) MMP_CASES(15) MMP_CASES(20) }
}

}  // namespace mmp
