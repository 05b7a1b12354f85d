// AVX2: 16 products of 16-bit integers per instruction.
#include <immintrin.h>

#include <cstring>

#include "cpu/trees/search/kernel.h"

namespace {

struct Avx2 {
    struct Cost {
        __m256i low, high;
        uint32_t at_most(int32_t bound) const {
            const __m256i limit = _mm256_set1_epi32(bound);
            return ~(above(low, limit) | above(high, limit) << 8) & 0xFFFF;
        }
        void store(int32_t* out) const {
            _mm256_store_si256(reinterpret_cast<__m256i*>(out), low);
            _mm256_store_si256(reinterpret_cast<__m256i*>(out) + 1, high);
        }
        static uint32_t above(__m256i lanes, __m256i limit) {
            return static_cast<uint32_t>(
                _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(lanes, limit))));
        }
    };

    using Dot = Cost;

    struct Costs {
        bool uniform;
        const int32_t* table;

        explicit Costs(const ClassCosts& costs)
            : uniform(costs.uniform), table(costs.class_cost.data()) {}

        Cost total(const int32_t* own, const uint8_t* classes, const Dot& dot) const {
            return {half(own, classes, dot.low), half(own + 8, classes + 8, dot.high)};
        }

        __m256i half(const int32_t* own, const uint8_t* classes, __m256i dot) const {
            __m256i by_class = _mm256_set1_epi32(table[0]);
            if (!uniform) {
                const __m128i packed = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(classes));
                by_class = _mm256_i32gather_epi32(table, _mm256_cvtepu8_epi32(packed), 4);
            }
            const __m256i own_cost = _mm256_load_si256(reinterpret_cast<const __m256i*>(own));
            return _mm256_sub_epi32(_mm256_add_epi32(own_cost, by_class),
                                    _mm256_slli_epi32(dot, SearchIndex::kDotShift));
        }
    };

    template <int Chunks>
    static Dot dot(const uint8_t* samples, const uint8_t* query) {
        __m256i low = _mm256_setzero_si256(), high = low;
#pragma GCC unroll 8
        for (int i = 0; i < Chunks; ++i) {
            int32_t word;
            std::memcpy(&word, query + 4 * i, 4);
            const __m256i pair = _mm256_set1_epi32(word);
            const __m256i* chunk = reinterpret_cast<const __m256i*>(samples + 64 * i);
            low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_load_si256(chunk), pair));
            high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_load_si256(chunk + 1), pair));
        }
        return {low, high};
    }
};

}  // namespace

namespace mmp {

extern const SearchKernel search_avx2;
const SearchKernel search_avx2{"avx2", SampleLayout::kPairs,
                               [] { return static_cast<bool>(__builtin_cpu_supports("avx2")); },
                               search_any<Avx2>};

}  // namespace mmp
