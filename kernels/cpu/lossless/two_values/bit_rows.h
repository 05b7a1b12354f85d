// The pixels of planes of two values, as bits: of a plane, and of those that it continues above it.
// Source: section "Two values" of
// docs/format/format.md.
#pragma once

#include <stdint.h>
#include <string.h>

#include <bit>

#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

// Pixels beyond the plane are 0. A pixel in column c of a row is bit c of the bytes from row(r).
class BitRows {
public:
    static constexpr int kBeside = 64;  // columns on each side that may be read
    static constexpr int kAbove = 32;   // rows above the first one that may be read

    BitRows(int width, int64_t height)
        : stride_((width + 3 * kBeside + 7) / 8), bytes_(size_t(kAbove + height) * stride_) {}

    void reserve(int64_t rows) { bytes_.reserve(size_t(kAbove + rows) * stride_); }

    int64_t stride() const { return stride_; }
    MMP_INLINE const uint8_t* row(int row) const {
        return &bytes_[(kAbove + row) * stride_ + kBeside / 8];
    }
    MMP_INLINE void set(int row, int column) {
        bytes_[(kAbove + row) * stride_ + (kBeside + column) / 8] |= uint8_t(1 << (column & 7));
    }
    // Makes the pixels 1 whose sample is `ink`.
    void set_row(int row, const uint16_t* samples, int width, uint16_t ink) {
        for (int column = 0; column < width; ++column)
            if (samples[column] == ink) set(row, column);
    }

private:
    const int64_t stride_;
    ZeroedLines<uint8_t> bytes_;
};

// Returns `count` pixels, at most 57, of a row from `column` on; the first one is the lowest bit.
MMP_INLINE uint64_t bits(const uint8_t* row, int64_t column, int count) {
    uint64_t word;
    memcpy(&word, row + (column >> 3), sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    return word >> (column & 7) & ((uint64_t{1} << count) - 1);
}

// Pixels from one column on, of several rows.
class BitsFrom {
public:
    MMP_INLINE BitsFrom(const uint8_t* row, int64_t stride, int64_t column)
        : at_(row + (column >> 3)), stride_(stride), shift_(int(column & 7)) {}

    MMP_INLINE uint64_t of(int down, int count) const {
        return bits(at_ + down * stride_, shift_, count);
    }

private:
    const uint8_t* const at_;
    const int64_t stride_;
    const int shift_;
};

// The same pixels by columns: a word has the pixels of one column in a row (bit 0) and in the
// rows above it.
class BitColumns {
public:
    static constexpr int kBeside = 16;  // columns on each side that may be read

    BitColumns(int width, int64_t height)
        : stride_(width + 2 * kBeside), words_(size_t(height + 1) * stride_, true) {}

    void reserve(int64_t rows) { words_.reserve(size_t(rows + 1) * stride_); }

    MMP_INLINE const uint16_t* at(int row, int column) const {
        return &words_[(row + 1) * stride_ + kBeside + column];
    }
    MMP_INLINE void begin_row(int row) {
        const uint16_t* above = &words_[row * stride_];
        uint16_t* here = &words_[(row + 1) * stride_];
        for (int64_t i = 0; i < stride_; ++i) here[i] = uint16_t(above[i] << 1);
    }
    MMP_INLINE void set(int row, int column) {
        words_[(row + 1) * stride_ + kBeside + column] |= 1;
    }

private:
    const int64_t stride_;
    ZeroedLines<uint16_t> words_;
};

}  // namespace mmp
