// Which values occur in a plane. Source: section "Values" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <vector>

#include "cpu/runtime/errors.h"
#include "shared/entropy/binary.h"

namespace mmp {

// Codes the values of a plane: those that occur, if the list saves bits, else all below 2^depth.
// coder.map_bit(one, bit) codes a bit in which 1 has the probability `one`.
template <class Coder>
std::vector<uint16_t> code_values(Coder& coder, const uint16_t* samples, int64_t count, int depth) {
    const int values = 1 << depth;
    std::vector<uint8_t> used(values);
    bool pays = false;
    if (coder.writes) {
        for (int64_t i = 0; i < count; ++i) used[samples[i]] = 1;
        const int64_t occurring = std::count(used.begin(), used.end(), 1);
        pays = 4 * occurring < 3 * values && values < 4 * count;
    }
    const bool named = coder.map_bit(kBitTotal / 2, pays);
    BitModel models[2];
    std::vector<uint16_t> found;
    int last = 0;
    for (int value = 0; value < values; ++value) {
        if (named) {
            const int bit = coder.map_bit(models[last].one, used[value]);
            models[last].count(bit);
            last = bit;
        }
        if (!named || last) found.push_back(uint16_t(value));
    }
    if (found.empty()) throw CorruptPayload("no value occurs", "Lossless samples");
    return found;
}

}  // namespace mmp
