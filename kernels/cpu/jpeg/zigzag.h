// The order of the levels of a block in the scans.
#pragma once

#include <stdint.h>

#include <bit>

#include "cpu/jpeg/picture.h"
#include "cpu/runtime/simd.h"

namespace mmp::jpeg {

// By a row of frequencies and a bit mask of its places: the bits of the places in zigzag order.
struct ZigzagBits {
    uint64_t of[8][256] = {};

    constexpr ZigzagBits() {
        uint64_t bit[kBlockLevels] = {};
        for (int z = 0; z < kBlockLevels; ++z) bit[kZigzag[z]] = uint64_t{1} << z;
        for (int row = 0; row < 8; ++row)
            for (int mask = 1; mask < 256; ++mask)
                of[row][mask] =
                    of[row][mask & (mask - 1)] | bit[8 * row + std::countr_zero(unsigned(mask))];
    }
};
inline constexpr ZigzagBits kZigzagBits;

// Returns a bit mask, in zigzag order, of the levels of a block that are not 0.
MMP_INLINE uint64_t levels_in_zigzag(const int16_t* levels) {
    uint64_t found = 0;
    for (int row = 0; row < 8; row += 2) {
        const uint32_t bits = lane_bits(loaded<Shorts8>(levels + 8 * row) != 0,
                                        loaded<Shorts8>(levels + 8 * row + 8) != 0);
        found |= kZigzagBits.of[row][bits & 255] | kZigzagBits.of[row + 1][bits >> 8];
    }
    return found;
}

}  // namespace mmp::jpeg
