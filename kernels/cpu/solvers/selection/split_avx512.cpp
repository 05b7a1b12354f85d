// The splitting pass with AVX-512: 16 or 8 values at a time. This file is compiled with its own
// flags, and its functions are called only on processors with AVX-512.
#include <immintrin.h>

#include "cpu/solvers/selection/split.h"

namespace mmp::avx512 {

namespace {

// The instructions for keys of one size.
template <class K>
struct Lanes;

template <>
struct Lanes<uint32_t> {
    static __m512i all(uint32_t value) { return _mm512_set1_epi32(static_cast<int>(value)); }
    static __m512i load(__mmask16 some, const uint32_t* from) {
        return _mm512_maskz_loadu_epi32(some, from);
    }
    static __m512i sign(__m512i bits) { return _mm512_srai_epi32(bits, 31); }
    static __m512i minus(__m512i a, __m512i b) { return _mm512_sub_epi32(a, b); }
    static __mmask16 less(__m512i a, __m512i b) { return _mm512_cmplt_epu32_mask(a, b); }
    static __mmask16 equal(__m512i a, __m512i b) { return _mm512_cmpeq_epi32_mask(a, b); }
    static __m512i pack(__mmask16 some, __m512i a) { return _mm512_maskz_compress_epi32(some, a); }
    static __m512i choose(__mmask16 some, __m512i a, __m512i b) {
        return _mm512_mask_mov_epi32(b, some, a);
    }
};

template <>
struct Lanes<uint64_t> {
    static __m512i all(uint64_t value) { return _mm512_set1_epi64(static_cast<long long>(value)); }
    static __m512i load(__mmask16 some, const uint64_t* from) {
        return _mm512_maskz_loadu_epi64(static_cast<__mmask8>(some), from);
    }
    static __m512i sign(__m512i bits) { return _mm512_srai_epi64(bits, 63); }
    static __m512i minus(__m512i a, __m512i b) { return _mm512_sub_epi64(a, b); }
    static __mmask16 less(__m512i a, __m512i b) { return _mm512_cmplt_epu64_mask(a, b); }
    static __mmask16 equal(__m512i a, __m512i b) { return _mm512_cmpeq_epi64_mask(a, b); }
    static __m512i pack(__mmask16 some, __m512i a) {
        return _mm512_maskz_compress_epi64(static_cast<__mmask8>(some), a);
    }
    static __m512i choose(__mmask16 some, __m512i a, __m512i b) {
        return _mm512_mask_mov_epi64(b, static_cast<__mmask8>(some), a);
    }
};

inline int64_t ones(__mmask16 mask) { return __builtin_popcount(mask); }

}  // namespace

template <class K, Kind kind>
int64_t split(const K* values, int64_t count, Bracket<K>& bracket) {
    using L = Lanes<K>;
    constexpr int kLanes = 64 / sizeof(K);
    constexpr int kFew = 2;
    const __m512i low = L::all(bracket.low), high = L::all(bracket.high);
    const __m512i width = L::all(static_cast<K>(bracket.high - bracket.low));
    const __m512i top = L::all(kTop<K>), infinity = L::all(kInfinity<K>);
    // Local variables stay in registers: the compiler must assume that a store changes the bracket.
    K* const inside = bracket.inside.data();
    int64_t below = 0, nans = 0, found = bracket.found, at_low = 0, at_high = 0;
    const auto look = [&](const K* from, __mmask16 exist) {
        __m512i key = L::load(exist, from);
        if constexpr (kind == Kind::kFloat) {
            const __mmask16 nan = L::less(infinity, _mm512_andnot_si512(top, key));
            nans += ones(exist & nan);
            key = _mm512_xor_si512(key, _mm512_or_si512(top, L::sign(key)));
            key = L::choose(nan, L::all(kNan<K>), key);
        }
        if constexpr (kind == Kind::kSigned) key = _mm512_xor_si512(key, top);
        below += ones(exist & L::less(key, low));
        __mmask16 within = exist & static_cast<__mmask16>(~L::less(width, L::minus(key, low)));
        // If many keys are in the bracket, those equal to a bound are counted instead of kept.
        if (ones(within) > kFew) {
            const __mmask16 first = within & L::equal(key, low);
            const __mmask16 last = within & L::equal(key, high) & static_cast<__mmask16>(~first);
            at_low += ones(first);
            at_high += ones(last);
            within &= static_cast<__mmask16>(~(first | last));
        }
        _mm512_storeu_si512(inside + found, L::pack(within, key));
        found += ones(within);
    };
    int64_t i = 0;
    constexpr __mmask16 kAll = static_cast<__mmask16>((1u << kLanes) - 1);
    for (; i + kLanes <= count; i += kLanes) look(values + i, kAll);
    if (i < count) look(values + i, static_cast<__mmask16>((1u << (count - i)) - 1));
    bracket.below += below;
    bracket.at_low += at_low;
    bracket.at_high += at_high;
    bracket.found = found;
    return nans;
}

template int64_t split<uint32_t, Kind::kUnsigned>(const uint32_t*, int64_t, Bracket<uint32_t>&);
template int64_t split<uint32_t, Kind::kSigned>(const uint32_t*, int64_t, Bracket<uint32_t>&);
template int64_t split<uint32_t, Kind::kFloat>(const uint32_t*, int64_t, Bracket<uint32_t>&);
template int64_t split<uint64_t, Kind::kUnsigned>(const uint64_t*, int64_t, Bracket<uint64_t>&);
template int64_t split<uint64_t, Kind::kSigned>(const uint64_t*, int64_t, Bracket<uint64_t>&);
template int64_t split<uint64_t, Kind::kFloat>(const uint64_t*, int64_t, Bracket<uint64_t>&);

}  // namespace mmp::avx512
