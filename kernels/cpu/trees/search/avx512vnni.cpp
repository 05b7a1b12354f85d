// AVX-512 with VNNI: 64 products of bytes per instruction.
#include <immintrin.h>

#include <cstring>

#include "cpu/trees/search/kernel.h"

namespace {

struct Avx512Vnni {
    struct Cost {
        __m512i lanes;
        uint32_t at_most(int32_t bound) const {
            return _mm512_cmple_epi32_mask(lanes, _mm512_set1_epi32(bound));
        }
        void store(int32_t* out) const { _mm512_store_si512(out, lanes); }
    };

    struct Costs {
        bool uniform;
        __m512i table[4];

        explicit Costs(const ClassCosts& costs) : uniform(costs.uniform) {
            for (int i = 0; i < 4; ++i)
                table[i] = _mm512_load_si512(costs.class_cost.data() + 16 * i);
            if (uniform) table[0] = _mm512_set1_epi32(costs.class_cost[0]);
        }

        Cost total(const int32_t* own, const uint8_t* classes, __m512i dot) const {
            __m512i by_class = table[0];
            if (!uniform) {
                const __m512i c = _mm512_cvtepu8_epi32(
                    _mm_load_si128(reinterpret_cast<const __m128i*>(classes)));
                const __m512i low = _mm512_permutex2var_epi32(table[0], c, table[1]);
                const __m512i high = _mm512_permutex2var_epi32(table[2], c, table[3]);
                const __mmask16 is_high = _mm512_cmpge_epi32_mask(c, _mm512_set1_epi32(32));
                by_class = _mm512_mask_mov_epi32(low, is_high, high);
            }
            return {_mm512_sub_epi32(_mm512_add_epi32(_mm512_load_si512(own), by_class),
                                     _mm512_slli_epi32(dot, SearchIndex::kDotShift))};
        }
    };

    static __m512i broadcast(const uint8_t* query, int chunk) {
        int32_t word;
        std::memcpy(&word, query + 4 * chunk, 4);
        return _mm512_set1_epi32(word);
    }

    template <int Chunks>
    static __m512i dot(const uint8_t* samples, const uint8_t* query) {
        __m512i even = _mm512_setzero_si512(), odd = even;
#pragma GCC unroll 8
        for (int i = 0; i + 1 < Chunks; i += 2) {
            even = _mm512_dpbusd_epi32(even, _mm512_load_si512(samples + 64 * i),
                                       broadcast(query, i));
            odd = _mm512_dpbusd_epi32(odd, _mm512_load_si512(samples + 64 * i + 64),
                                      broadcast(query, i + 1));
        }
        if constexpr (Chunks == 1)
            return _mm512_dpbusd_epi32(even, _mm512_load_si512(samples), broadcast(query, 0));
        return _mm512_add_epi32(even, odd);
    }
};

}  // namespace

namespace mmp {

extern const SearchKernel search_avx512vnni;
const SearchKernel search_avx512vnni{
    "avx512vnni", SampleLayout::kBytes,
    [] {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vnni");
    },
    search_any<Avx512Vnni>};

}  // namespace mmp
