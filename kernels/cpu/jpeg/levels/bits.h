// Bits of the range coder, in both directions. The state is copied into a function of a row of
// blocks, where it stays in registers. Source: section "Range coder" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/entropy/rangecoder.h"
#include "cpu/runtime/simd.h"
#include "shared/entropy/binary.h"

namespace mmp::jpeg {

class WrittenBits {
public:
    static constexpr bool kWrites = true;

    explicit WrittenBits(std::vector<uint8_t>& payload) : payload_(&payload) {}

    // Codes a bit, in which 1 has the probability `one`.
    MMP_INLINE int code(uint32_t one, int given) {
        const uint64_t unit = range_ / kBitTotal, bound = unit * one;
        const uint64_t before = low_;
        low_ += given ? 0 : bound;
        range_ = given ? bound : unit * kBitTotal - bound;
        if (low_ < before) [[unlikely]]
            RangeEncoder::carry(*payload_);
        if (range_ < kBottom) [[unlikely]] {
            append_word(*payload_, low_);
            low_ <<= kWordBits;
            range_ <<= kWordBits;
        }
        return given;
    }
    void finish() { RangeEncoder::finish(low_, range_, *payload_); }

private:
    [[gnu::noinline]] static void append_word(std::vector<uint8_t>& payload, uint64_t low) {
        RangeEncoder::append(low, kWordBytes, payload);
    }

    uint64_t low_ = 0, range_ = kFullRange;
    std::vector<uint8_t>* payload_;
};

class ReadBits {
public:
    static constexpr bool kWrites = false;

    ReadBits(const uint8_t* payload, size_t size) : decoder_(payload, size) {}

    // Returns the bit, in which 1 has the probability `one`.
    MMP_INLINE int code(uint32_t one, int) { return decoder_.bit(kBitTotal, one); }
    void finish() { decoder_.finish(); }

private:
    RangeDecoder decoder_;
};

}  // namespace mmp::jpeg
