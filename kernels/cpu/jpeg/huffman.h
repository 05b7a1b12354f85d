// Huffman tables of JPEG. Source: ITU-T T.81, Annex C and F.2.2.3.
#pragma once

#include <stdint.h>

namespace mmp::jpeg {

class HuffmanTable {
public:
    static constexpr int kLookBits = 10, kMostLength = 16;

    struct Code {
        uint16_t code = 0;
        uint8_t length = 0;  // 0: the symbol has no code
    };

    // `counts` says how many codes have 1 to 16 bits. Returns whether such codes exist.
    bool set(const uint8_t* counts, const uint8_t* symbols, int symbols_count);

    bool is_known() const { return known_; }
    const Code& code(int symbol) const { return codes_[symbol]; }

    struct Found {
        uint8_t symbol, length;  // length 0: no code begins like this
    };
    // Finds the symbol whose code begins a word of 16 bits.
    Found find(uint32_t word) const {
        const Found found = look_[word >> (kMostLength - kLookBits)];
        return found.length ? found : find_long(word);
    }

private:
    Found find_long(uint32_t word) const;

    bool known_ = false;
    Code codes_[256];
    Found look_[1 << kLookBits];
    uint32_t ends_[kMostLength + 1];   // first word above the codes of each length
    int32_t offsets_[kMostLength + 1];  // of the first code of each length in symbols_
    uint8_t symbols_[256];
};

}  // namespace mmp::jpeg
