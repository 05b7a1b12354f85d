// The splitting pass with AVX-512: 16 or 8 values per vector. This file has its own compiler flags;
// its functions run only on processors with AVX-512.
#include <immintrin.h>

#include "cpu/solvers/selection/split.h"

namespace mmp::avx512 {

namespace {

// AVX-512 operations for keys of one size.
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

template <class K>
constexpr int kLanes = 64 / sizeof(K);

// Returns the keys of values and sets the mask of NaN lanes.
template <class K, Kind kind>
inline __m512i keys_of(__m512i bits, __mmask16& nan) {
    using L = Lanes<K>;
    const __m512i top = L::all(kTop<K>);
    if constexpr (kind == Kind::kSigned) return _mm512_xor_si512(bits, top);
    if constexpr (kind == Kind::kFloat) {
        nan = L::less(L::all(kInfinity<K>), _mm512_andnot_si512(top, bits));
        const __m512i key = _mm512_xor_si512(bits, _mm512_or_si512(top, L::sign(bits)));
        return L::choose(nan, L::all(kNan<K>), key);
    }
    return bits;
}

// Calls look(place, mask of existing lanes) for each vector of an array.
template <class K, class Look>
inline void each_vector(int64_t count, const Look& look) {
    int64_t i = 0;
    for (; i + kLanes<K> <= count; i += kLanes<K>)
        look(i, static_cast<__mmask16>((1u << kLanes<K>) - 1));
    if (i < count) look(i, static_cast<__mmask16>((1u << (count - i)) - 1));
}

// Returns a pivot whose rank is probably near `rank`. `at` returns the key at an index.
template <class K, class At>
inline K pivot_of(int64_t count, int64_t rank, uint64_t& random, const At& at) {
    constexpr int kSample = 16;
    K sample[kSample];
    for (int n = 0; n < kSample; ++n) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        const K key = at(static_cast<int64_t>((random >> 32) * static_cast<uint64_t>(count) >> 32));
        int place = n;
        for (; place > 0 && sample[place - 1] > key; --place) sample[place] = sample[place - 1];
        sample[place] = key;
    }
    return sample[rank * kSample / count];
}

// Compacts the keys below the pivot, or above it, to the front, and returns their number.
template <class K>
inline int64_t keep_side(K* keys, int64_t count, K pivot_key, bool below) {
    using L = Lanes<K>;
    const __m512i pivot = L::all(pivot_key);
    int64_t kept = 0;
    each_vector<K>(count, [&](int64_t i, __mmask16 exist) {
        const __m512i key = L::load(exist, keys + i);
        const __mmask16 side = exist & (below ? L::less(key, pivot) : L::less(pivot, key));
        // The store covers at most keys that have already been read.
        _mm512_storeu_si512(keys + kept, L::pack(side, key));
        kept += ones(side);
    });
    return kept;
}

}  // namespace

template <class K, Kind kind>
K select_one(const K* values, int64_t count, int64_t rank, K* keys, int64_t& nans) {
    using L = Lanes<K>;
    constexpr int64_t kFew = 32;
    constexpr int kMostRounds = 64;  // exceeded only if samples are misleading repeatedly
    uint64_t random = 0x9E3779B97F4A7C15ull;
    K pivot = pivot_of<K>(count, rank, random, [&](int64_t i) {
        return key_of<K, kind>(values[i]);
    });
    __m512i pivots = L::all(pivot);
    int64_t seen_nans = 0, below = 0, equal = 0;
    each_vector<K>(count, [&](int64_t i, __mmask16 exist) {
        __mmask16 nan = 0;
        const __m512i key = keys_of<K, kind>(L::load(exist, values + i), nan);
        if (kind == Kind::kFloat) seen_nans += ones(exist & nan);
        below += ones(exist & L::less(key, pivots));
        equal += ones(exist & L::equal(key, pivots));
        _mm512_storeu_si512(keys + i, key);
    });
    nans = seen_nans;
    for (int round = 0; round < kMostRounds; ++round) {
        if (rank >= below && rank < below + equal) return pivot;
        const bool side = rank < below;
        if (!side) rank -= below + equal;
        count = keep_side(keys, count, pivot, side);
        if (count <= kFew) break;
        pivot = pivot_of<K>(count, rank, random, [&](int64_t i) { return keys[i]; });
        pivots = L::all(pivot);
        below = equal = 0;
        each_vector<K>(count, [&](int64_t i, __mmask16 exist) {
            const __m512i key = L::load(exist, keys + i);
            below += ones(exist & L::less(key, pivots));
            equal += ones(exist & L::equal(key, pivots));
        });
    }
    std::nth_element(keys, keys + rank, keys + count);
    return keys[rank];
}

template <class K, Kind kind>
int64_t split(const K* values, int64_t count, Bracket<K>& bracket) {
    using L = Lanes<K>;
    constexpr int kFew = 2;
    const __m512i low = L::all(bracket.low), high = L::all(bracket.high);
    const __m512i width = L::all(static_cast<K>(bracket.high - bracket.low));
    // Local copies stay in registers: otherwise the compiler must assume that stores change the
    // bracket.
    K* const inside = bracket.inside.data();
    int64_t below = 0, nans = 0, found = bracket.found, at_low = 0, at_high = 0;
    each_vector<K>(count, [&](int64_t i, __mmask16 exist) {
        __mmask16 nan = 0;
        const __m512i key = keys_of<K, kind>(L::load(exist, values + i), nan);
        if (kind == Kind::kFloat) nans += ones(exist & nan);
        below += ones(exist & L::less(key, low));
        __mmask16 within = exist & static_cast<__mmask16>(~L::less(width, L::minus(key, low)));
        // If many keys are inside the bracket, keys equal to a bound are counted instead of kept.
        if (ones(within) > kFew) {
            const __mmask16 first = within & L::equal(key, low);
            const __mmask16 last = within & L::equal(key, high) & static_cast<__mmask16>(~first);
            at_low += ones(first);
            at_high += ones(last);
            within &= static_cast<__mmask16>(~(first | last));
        }
        _mm512_storeu_si512(inside + found, L::pack(within, key));
        found += ones(within);
    });
    bracket.below += below;
    bracket.at_low += at_low;
    bracket.at_high += at_high;
    bracket.found = found;
    return nans;
}

#define MMP_SPLIT(K, kind)                                          \
    template int64_t split<K, kind>(const K*, int64_t, Bracket<K>&); \
    template K select_one<K, kind>(const K*, int64_t, int64_t, K*, int64_t&);
MMP_SPLIT(uint32_t, Kind::kUnsigned)
MMP_SPLIT(uint32_t, Kind::kSigned)
MMP_SPLIT(uint32_t, Kind::kFloat)
MMP_SPLIT(uint64_t, Kind::kUnsigned)
MMP_SPLIT(uint64_t, Kind::kSigned)
MMP_SPLIT(uint64_t, Kind::kFloat)
#undef MMP_SPLIT

}  // namespace mmp::avx512
