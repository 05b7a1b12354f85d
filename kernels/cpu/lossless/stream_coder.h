// The stream of a plane of lossless samples, with the rates of its cells. Source: section "Lossless
// samples" of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cpu/entropy/rangecoder.h"
#include "cpu/entropy/rates.h"
#include "cpu/lossless/codec.h"
#include "cpu/runtime/simd.h"
#include "shared/entropy/binary.h"

namespace mmp {

// The rate of a bit by the upper 12 bits of its probability, in 2^-12 bit.
struct BitRates {
    static constexpr int kBits = 12;
    uint16_t of[1 << kBits];

    BitRates() {
        const RateTable& logarithms = RateTable::get();
        for (int i = 0; i < 1 << kBits; ++i)
            of[i] = uint16_t((kBits << kRateFractionBits) - logarithms[i]);
    }
};
inline const BitRates kBitRates;

// Both directions in one class, because each row is compiled for it at every SIMD level.
struct StreamCoder {
    explicit StreamCoder(const LosslessShape& shape)
        : writes(true), decoder(nullptr, 0), cells(shape.height, shape.width) {}
    StreamCoder(const LosslessShape& shape, const uint8_t* stream, size_t size)
        : writes(false), decoder(stream, size), cells(shape.height, shape.width) {}

    // Codes a bit, in which 1 has the probability `one`. The bit is given if it is written.
    MMP_INLINE int code(uint32_t one, int given) {
        int bit = given;
        if (writes)
            encoder.encode(bit ? 0 : one, bit ? one : kBitTotal - one, kBitTotal);
        else
            bit = decoder.bit(kBitTotal, one);
        rate_ += kBitRates.of[(bit ? one : kBitTotal - one) >> (16 - BitRates::kBits)];
        return bit;
    }
    int map_bit(uint32_t one, int given) { return code(one, given); }
    // Codes a number below 2^bits, all of which are as likely.
    uint32_t plain(uint32_t given, int bits) {
        rate_ += int64_t{bits} << kRateFractionBits;
        if (!writes) return decoder.plain(bits);
        encoder.encode_plain(given, bits);
        return given;
    }

    // The ideal code length of all bits so far, in 2^-12 bit.
    int64_t rate() const { return rate_; }
    // Ends the samples of a row that lie in a cell; this is the last one.
    void end_cell(int row, int column) {
        cells.grow_to(rate_, row * row_step, column * column_step, 1, 1);
    }
    bool is_end_of_cell(int column) const { return (column + 1) * column_step % kCellSide == 0; }

    const bool writes;
    RangeEncoder encoder;
    RangeDecoder decoder;
    CellRates cells;
    int row_step = 1, column_step = 1;  // samples of the tile from one of the plane to the next

private:
    int64_t rate_ = 0;
};

}  // namespace mmp
