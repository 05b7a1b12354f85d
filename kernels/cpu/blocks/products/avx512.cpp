// AVX-512: 32 products of 16-bit integers per instruction.
#include "cpu/blocks/products/x86.h"

namespace {

struct Vector512 {
    using Type = __m512i;
    static Type load(const int16_t* p) { return _mm512_loadu_si512(p); }
    static Type all(int32_t v) { return _mm512_set1_epi32(v); }
    static Type low(Type x, Type y) { return _mm512_unpacklo_epi16(x, y); }
    static Type high(Type x, Type y) { return _mm512_unpackhi_epi16(x, y); }
    static Type add_products(Type sum, Type x, Type y) {
        return _mm512_add_epi32(sum, _mm512_madd_epi16(x, y));
    }
    static Type shift_right(Type v, int shift) {
        return _mm512_sra_epi32(v, _mm_cvtsi32_si128(shift));
    }
    static Type pack(Type x, Type y) {
        return _mm512_max_epi16(_mm512_packs_epi32(x, y), _mm512_set1_epi16(-kMaxCoefficient));
    }
    static void store(void* p, Type v) { _mm512_storeu_si512(p, v); }
    static void store_ints(int32_t* p, Type low, Type high) {
        const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        store(p, _mm512_permutex2var_epi64(low, first, high));
        store(p + 16, _mm512_permutex2var_epi64(low, second, high));
    }
};

template <int Rows> struct TileOf<Rows, 32> { using Type = WideTile<Vector512, Rows>; };

}  // namespace

namespace mmp {

extern const ProductKernel products_avx512;
const ProductKernel products_avx512{
    "avx512", [] { return bool(__builtin_cpu_supports("avx512bw")); },
    multiply<X86<32>, int16_t>, multiply<X86<32>, int32_t>};

}  // namespace mmp
