// Corrections of the chroma of single pixels. Source: section "Source colours" of
// docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "cpu/lossless/source_colours/colours.h"
#include "cpu/runtime/errors.h"
#include "shared/entropy/binary.h"

namespace mmp {

// What is added to the interpolated chroma of a pixel; `place` counts pixels in rows.
struct Correction {
    int64_t place;
    int difference;
};

// Luma, the two planes of chroma, and their corrections.
struct SourcePlanes {
    SourceColours colours;
    int width;  // of luma
    std::vector<uint16_t> luma, chroma[2];
    std::vector<Correction> corrections[2];

    int columns() const { return colours.count(SourceColours::kColumns, width); }
};

// Codes numbers of at least 0 by their lengths.
template <class Coder>
class LengthCoder {
public:
    explicit LengthCoder(Coder& coder) : coder_(coder) {}

    int64_t code(int64_t given) {
        int length = 0;
        while (length < kLongest && bit(models_[length], (given + 1) >> (length + 1) != 0)) ++length;
        int64_t found = 1;
        for (int left = length; left > 0;) {
            const int digits = std::min(left, kDigits);
            left -= digits;
            const uint32_t mask = (1u << digits) - 1;
            found = found << digits | coder_.plain(uint32_t((given + 1) >> left) & mask, digits);
        }
        return found - 1;
    }
    int bit(BitModel& model, int given) {
        const int coded = coder_.map_bit(model.one, given);
        model.count(coded);
        return coded;
    }

private:
    static constexpr int kLongest = 31;
    static constexpr int kDigits = 16;  // of a plain number

    Coder& coder_;
    BitModel models_[kLongest];
};

// Codes the corrections of a chroma plane, one after the other.
template <class Coder>
class CorrectionCoder {
public:
    CorrectionCoder(Coder& coder, int64_t pixels) : gaps_(coder), sizes_(coder), pixels_(pixels) {}

    // Codes the next correction; nullptr is the end. Returns whether there is one, in `found`.
    bool code(const Correction* given, Correction& found) {
        if (gaps_.bit(is_last_, !given)) return false;
        found.place = next_ + gaps_.code(given ? given->place - next_ : 0);
        if (found.place >= pixels_)
            throw CorruptPayload("correction of pixel " + std::to_string(found.place) +
                                     ", the tile has " + std::to_string(pixels_),
                                 kColoursSection);
        const int negative = gaps_.bit(is_negative_, given && given->difference < 0);
        const int64_t size = 1 + sizes_.code(given ? std::abs(given->difference) - 1 : 0);
        if (size > 255)
            throw CorruptPayload("correction by " + std::to_string(size) + ", allowed is 1 to 255",
                                 kColoursSection);
        found.difference = int(negative ? -size : size);
        next_ = found.place + 1;
        return true;
    }

private:
    LengthCoder<Coder> gaps_, sizes_;
    BitModel is_last_, is_negative_;
    const int64_t pixels_;
    int64_t next_ = 0;  // least place
};

}  // namespace mmp
