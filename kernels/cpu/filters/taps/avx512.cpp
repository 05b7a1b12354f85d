// AVX-512: 32 products of 16-bit integers per instruction.
#include <immintrin.h>

#include "cpu/filters/taps/vectors.h"

namespace mmp {

namespace {

typedef int16_t Shorts32 __attribute__((vector_size(64)));

// Eight blocks, in the order of SixteenLanes within each half.
struct ThirtyTwoLanes {
    static constexpr int kBlocks = 8;
    using Value = int16_t;
    using Lanes = Shorts32;
    using Sums = Ints16;
    using Group = __m512i;
    struct Weights {
        __m512i low, high;
    };

    static MMP_INLINE Group group(const Value* const* taps) {
        const auto half = [&](int k) MMP_INLINED {
            return reinterpret_cast<__m256i>(SixteenLanes::group(taps + k));
        };
        return _mm512_inserti64x4(_mm512_castsi256_si512(half(0)), half(4), 1);
    }
    template <int Tap>
    static MMP_INLINE Weights weights(Group group) {
        constexpr int k = Tap / 2;
        return {_mm512_shuffle_epi32(group, _MM_PERM_ENUM(0x55 * k)),
                _mm512_shuffle_epi32(group, _MM_PERM_ENUM(0x55 * (k + 2)))};
    }
    static MMP_INLINE Weights weights(const Value* of_all) {
        const __m512i both = _mm512_set1_epi32(loaded<int32_t>(of_all));
        return {both, both};
    }
    template <int k>
    static MMP_INLINE Lanes limits(Group group) {
        const auto from = _mm512_broadcast_i32x4(_mm_setr_epi8(
            2 * k, 2 * k + 1, 2 * k, 2 * k + 1, 2 * k, 2 * k + 1, 2 * k, 2 * k + 1, 8 + 2 * k,
            9 + 2 * k, 8 + 2 * k, 9 + 2 * k, 8 + 2 * k, 9 + 2 * k, 8 + 2 * k, 9 + 2 * k));
        return reinterpret_cast<Lanes>(_mm512_shuffle_epi8(group, from));
    }
    static MMP_INLINE void add(Sums (&sums)[2], Lanes one, Lanes other, const Weights& w) {
        const auto a = reinterpret_cast<__m512i>(one), b = reinterpret_cast<__m512i>(other);
        sums[0] += reinterpret_cast<Sums>(_mm512_madd_epi16(_mm512_unpacklo_epi16(a, b), w.low));
        sums[1] += reinterpret_cast<Sums>(_mm512_madd_epi16(_mm512_unpackhi_epi16(a, b), w.high));
    }
    static MMP_INLINE void store_sums(int32_t* out, const Sums (&sums)[2]) {
        for (int k = 0; k < 16; ++k) {
            out[k / 4 * 8 + k % 4] = sums[0][k];
            out[k / 4 * 8 + 4 + k % 4] = sums[1][k];
        }
    }
    static MMP_INLINE Lanes shifted(const Sums (&sums)[2], int bits) {
        return reinterpret_cast<Lanes>(
            _mm512_packs_epi32(reinterpret_cast<__m512i>(sums[0] >> bits),
                               reinterpret_cast<__m512i>(sums[1] >> bits)));
    }
};

bool supported() { return __builtin_cpu_supports("avx512bw"); }

}  // namespace

extern const TapKernel<int16_t, uint8_t> taps_avx512_bytes;
const TapKernel<int16_t, uint8_t> taps_avx512_bytes = kernel_of<ThirtyTwoLanes, uint8_t>(supported);
extern const TapKernel<int16_t, uint16_t> taps_avx512_words;
const TapKernel<int16_t, uint16_t> taps_avx512_words =
    kernel_of<ThirtyTwoLanes, uint16_t>(supported);

}  // namespace mmp
