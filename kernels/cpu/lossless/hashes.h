// Hashes of the context of a sample.
// Source: section "Lossless samples" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include "cpu/runtime/simd.h"

namespace mmp {

// Powers of 65599, by which hashes weigh their terms.
struct HashFactors {
    uint32_t of[26];
    constexpr HashFactors() : of() {
        uint32_t power = 1;
        for (uint32_t& factor : of) factor = power *= 65599;
    }
};
inline constexpr HashFactors kHashFactors;

// The sum of terms times the powers.
template <class... Terms>
MMP_INLINE uint32_t hashed(Terms... terms) {
    uint32_t sum = 0;
    int i = 0;
    ((sum += uint32_t(terms) * kHashFactors.of[i++]), ...);
    return sum;
}

// The hash of a sum.
MMP_INLINE uint32_t mixed_hash(uint32_t sum) { return (sum ^ sum >> 15) * 2654435761u; }

}  // namespace mmp
