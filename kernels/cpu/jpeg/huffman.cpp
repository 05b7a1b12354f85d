#include "cpu/jpeg/huffman.h"

#include <string.h>

#include <algorithm>

namespace mmp::jpeg {

bool HuffmanTable::set(const uint8_t* counts, const uint8_t* symbols, int symbols_count) {
    std::fill_n(codes_, 256, Code{});
    std::fill_n(look_, 1 << kLookBits, Found{});
    memcpy(symbols_, symbols, symbols_count);
    known_ = false;
    uint32_t code = 0;
    int place = 0;
    ends_[0] = 0;
    for (int length = 1; length <= kMostLength; ++length) {
        const int shift = kMostLength - length;
        offsets_[length] = place - int32_t(code);
        for (int i = 0; i < counts[length - 1]; ++i, ++place, ++code) {
            if (code >> length) return false;
            // If a symbol has two codes, the first one is written.
            Code& own = codes_[symbols_[place]];
            if (!own.length) own = {uint16_t(code), uint8_t(length)};
            if (length <= kLookBits)
                std::fill_n(look_ + (code << (kLookBits - length)), 1 << (kLookBits - length),
                            Found{symbols_[place], uint8_t(length)});
        }
        if (code > uint32_t{1} << length) return false;
        ends_[length] = code << shift;
        code <<= 1;
    }
    known_ = true;
    return true;
}

HuffmanTable::Found HuffmanTable::find_long(uint32_t word) const {
    for (int length = kLookBits + 1; length <= kMostLength; ++length)
        if (word < ends_[length]) {
            const int place = int(word >> (kMostLength - length)) + offsets_[length];
            return {symbols_[place], uint8_t(length)};
        }
    return {0, 0};
}

}  // namespace mmp::jpeg
