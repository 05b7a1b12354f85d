// Splitting pass over all values: counts the values below a bracket and keeps the values inside it.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "cpu/solvers/selection/selection.h"

namespace mmp {

template <class K>
constexpr K kTop = static_cast<K>(K{1} << (8 * sizeof(K) - 1));

template <class K>
constexpr K kNan = std::numeric_limits<K>::max();

// Bits of positive infinity.
template <class K>
constexpr K kInfinity = sizeof(K) == 2   ? static_cast<K>(0x7C00)
                        : sizeof(K) == 4 ? static_cast<K>(0x7F800000u)
                                         : static_cast<K>(0x7FF0000000000000ull);

template <class K>
inline bool is_nan(K bits) {
    return static_cast<K>(bits & ~kTop<K>) > kInfinity<K>;
}

template <class K, Kind kind>
inline K key_of(K bits) {
    if constexpr (kind == Kind::kUnsigned) return bits;
    if constexpr (kind == Kind::kSigned) return bits ^ kTop<K>;
    const K sign = static_cast<K>(0) - static_cast<K>(bits >> (8 * sizeof(K) - 1));
    return is_nan(bits) ? kNan<K> : static_cast<K>(bits ^ (sign | kTop<K>));
}

template <class K>
constexpr int64_t kVector = 64 / sizeof(K);

// Keeps the keys between two bounds in the first `found` elements of `inside`. Keys equal to a
// bound are kept or counted; keys below `low` are counted.
template <class K>
struct Bracket {
    Bracket(K low, K high) : low(low), high(high) {}

    // Resizes `inside` for `more` keys plus one vector, because whole vectors are stored.
    void make_room(int64_t more) {
        const int64_t needed = found + more + kVector<K>;
        if (needed > static_cast<int64_t>(inside.size())) inside.resize(2 * needed);
    }

    void add(const Bracket& other) {
        below += other.below;
        at_low += other.at_low;
        at_high += other.at_high;
        inside.resize(found + other.found);
        std::copy_n(other.inside.begin(), other.found, inside.begin() + found);
        found += other.found;
    }

    K low, high;
    int64_t below = 0, at_low = 0, at_high = 0, found = 0;
    std::vector<K> inside;
};

// Splits values at a bracket with room for all of them; returns the number of NaN.
template <class K, Kind kind>
int64_t split(const K* values, int64_t count, Bracket<K>& bracket);

// Scalar version of `split`. It counts all keys equal to a bound and keeps none of them.
template <class K, Kind kind>
int64_t split_plain(const K* values, int64_t count, Bracket<K>& bracket);

// Whether `split` and `select_one` use AVX-512 vectors.
bool is_wide();

// Quickselect: returns the key of a rank by splitting at one pivot after another. `keys` has room
// for all keys plus kVector. Requires is_wide().
template <class K, Kind kind>
K select_one(const K* values, int64_t count, int64_t rank, K* keys, int64_t& nans);

#ifdef MMP_X86
namespace avx512 {

template <class K, Kind kind>
K select_one(const K* values, int64_t count, int64_t rank, K* keys, int64_t& nans);

template <class K, Kind kind>
int64_t split(const K* values, int64_t count, Bracket<K>& bracket);

}  // namespace avx512
#endif

}  // namespace mmp
