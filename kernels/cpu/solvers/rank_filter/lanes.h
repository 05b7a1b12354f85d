// Samples as integers that sort like the samples, for vector comparisons.
#pragma once

#include <stdint.h>
#include <string.h>

#include <limits>
#include <type_traits>

#include "cpu/runtime/simd.h"

namespace mmp {

// Integers are used as they are. Floating-point numbers become signed integers in the order of the
// numbers, -0.0 before 0.0: for negative numbers, all bits but the sign are inverted.
template <class T>
struct LaneOf { using Type = T; };
template <> struct LaneOf<float> { using Type = int32_t; };
template <> struct LaneOf<double> { using Type = int64_t; };
template <class T>
using Lane = typename LaneOf<T>::Type;

constexpr int kVectorBytes = 64;
template <class T>
constexpr int kLanesOf = kVectorBytes / sizeof(T);
template <class T>
using LaneVector = typename Vector<Lane<T>, kLanesOf<T>>::Type;

// Converts between bits of samples and lanes (the mapping is its own inverse). T is the type of the
// samples, V is one lane or a vector of lanes.
template <class T, class V>
MMP_INLINE V turned(V bits) {
    if constexpr (std::is_floating_point_v<T>) {
        constexpr Lane<T> kMost = std::numeric_limits<Lane<T>>::max();
        return bits ^ ((bits >> (8 * sizeof(T) - 1)) & kMost);
    } else {
        return bits;
    }
}

// Unsigned integer that sorts like a sample, and the inverse conversion.
template <class T>
using Key = std::make_unsigned_t<Lane<T>>;
template <class T>
constexpr Key<T> kTopOfKey =
    std::is_signed_v<Lane<T>> ? static_cast<Key<T>>(Key<T>{1} << (8 * sizeof(T) - 1)) : Key<T>{0};
template <class T>
MMP_INLINE Key<T> to_key(T sample) {
    Lane<T> bits;
    memcpy(&bits, &sample, sizeof bits);
    return static_cast<Key<T>>(static_cast<Key<T>>(turned<T>(bits)) ^ kTopOfKey<T>);
}
template <class T>
MMP_INLINE T from_key(Key<T> key) {
    const auto lane = static_cast<Lane<T>>(static_cast<Key<T>>(key ^ kTopOfKey<T>));
    const Lane<T> bits = static_cast<Lane<T>>(turned<T>(lane));
    T sample;
    memcpy(&sample, &bits, sizeof sample);
    return sample;
}

// Orders of lanes; both read and return bits of samples.
//
// ByInteger is exact. ByValue compares floating-point numbers directly, which is up to twice as
// fast but does not distinguish -0.0 from 0.0; it needs files compiled with -fno-signed-zeros
// -ffinite-math-only, so that vectors of every SIMD level have a minimum instruction.
template <class T>
struct ByInteger {
    using Lane = mmp::Lane<T>;
    using V = LaneVector<T>;
    static MMP_INLINE V lanes(const LaneVector<T>& bits) { return turned<T>(bits); }
    static MMP_INLINE LaneVector<T> bits(const V& lanes) { return turned<T>(lanes); }
    static constexpr bool kExact = true;
};
template <class T>
struct ByValue {
    using Lane = T;
    using V = typename Vector<T, kLanesOf<T>>::Type;
    static MMP_INLINE V lanes(const LaneVector<T>& bits) { return reinterpret_cast<V>(bits); }
    static MMP_INLINE LaneVector<T> bits(const V& lanes) {
        return reinterpret_cast<LaneVector<T>>(lanes);
    }
    static constexpr bool kExact = !std::is_floating_point_v<T>;
};

// Special values found in vectors of samples; integers have none.
struct Unusual {
    bool nan = false, minus_zero = false;
};

// Detects NaN and, with kZeros, -0.0 in vectors of samples.
template <class T, bool kZeros = false>
class UnusualSearch {
public:
    MMP_INLINE void look(const LaneVector<T>& bits) {
        if constexpr (std::is_floating_point_v<T>) {
            const LaneVector<T> size = bits & kMost;
            largest_ = largest_ < size ? size : largest_;
            if constexpr (kZeros) smallest_ = smallest_ < bits ? smallest_ : bits;
        }
    }
    MMP_INLINE Unusual found() const {
        Unusual found;
        if constexpr (std::is_floating_point_v<T>) {
            constexpr Lane<T> kInfinity =
                kMost - ((Lane<T>{1} << (std::numeric_limits<T>::digits - 1)) - 1);
            for (int lane = 0; lane < kLanesOf<T>; ++lane) {
                found.nan |= largest_[lane] > kInfinity;
                found.minus_zero |= smallest_[lane] == std::numeric_limits<Lane<T>>::min();
            }
        }
        return found;
    }

private:
    static constexpr Lane<T> kMost = std::numeric_limits<Lane<T>>::max();
    LaneVector<T> largest_{}, smallest_{};
};

// Stores the first `count` lanes of a vector, or all if it has fewer.
template <class T, class V>
MMP_INLINE void store_some(T* to, const V& vector, int64_t count) {
    if (count >= static_cast<int64_t>(sizeof(V) / sizeof(T)))
        store(to, vector);
    else
        memcpy(to, &vector, count * sizeof(T));
}

// Runs the filter work(order), which returns the special values found: first by value and, if that
// is not exact, again by integers. Returns whether any sample is NaN.
template <class T, class Work>
MMP_INLINE bool exactly(const Work& work) {
    const Unusual found = work(ByValue<T>());
    if (ByValue<T>::kExact || found.nan || !found.minus_zero) return found.nan;
    return work(ByInteger<T>()).nan;
}

template <class V>
MMP_INLINE V least(const V& a, const V& b) {
    return a < b ? a : b;
}
template <class V>
MMP_INLINE V greatest(const V& a, const V& b) {
    return a < b ? b : a;
}

}  // namespace mmp
