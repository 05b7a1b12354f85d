// Carry-safe integer range coder; docs/format/rangecoder.md states its invariants.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "cpu/runtime/errors.h"
#include "cpu/runtime/simd.h"

namespace mmp {

constexpr uint64_t kFullRange = UINT64_MAX;
constexpr int kWordBits = 32, kWordBytes = kWordBits / 8, kStateBytes = 2 * kWordBytes;
constexpr uint64_t kBottom = uint64_t{1} << kWordBits;

class RangeEncoder {
public:
    void encode(uint32_t cumulative, uint32_t frequency, uint32_t total) {
        narrow(range_ / total, cumulative, frequency);
    }

    // Encodes a number below 2^bits with equal probabilities.
    void encode_plain(uint32_t number, int bits) { narrow(range_ >> bits, number, 1); }

    // Appends the fewest bytes that identify a number within the final interval; returns the
    // payload.
    const std::vector<uint8_t>& finish() {
        finish(low_, range_, payload_);
        return payload_;
    }

    // The same, of a state that is kept elsewhere.
    static void finish(uint64_t low, uint64_t range, std::vector<uint8_t>& payload) {
        const uint64_t last = low + range - 1;
        if (last < low) {
            carry(payload);
        } else if (low > 0) {
            int bytes = 1;
            while (last >> (64 - 8 * bytes) << (64 - 8 * bytes) < low) ++bytes;
            append(last, bytes, payload);
        }
    }
    // Writes the most significant bytes of a number.
    static void append(uint64_t number, int bytes, std::vector<uint8_t>& payload) {
        for (int i = 0; i < bytes; ++i) payload.push_back(uint8_t(number >> (56 - 8 * i)));
    }
    static void carry(std::vector<uint8_t>& payload) {
        auto byte = payload.rbegin();
        while (*byte == 0xFF) *byte++ = 0;
        ++*byte;
    }

    const std::vector<uint8_t>& payload() const { return payload_; }

private:
    void narrow(uint64_t unit, uint32_t cumulative, uint32_t frequency) {
        const uint64_t before = low_;
        low_ += unit * cumulative;
        range_ = unit * frequency;
        if (low_ < before) carry(payload_);
        if (range_ < kBottom) {
            append(low_, kWordBytes, payload_);
            low_ <<= kWordBits;
            range_ <<= kWordBits;
        }
    }

    uint64_t low_ = 0, range_ = kFullRange;
    std::vector<uint8_t> payload_;
};

class RangeDecoder {
public:
    RangeDecoder(const uint8_t* payload, size_t size) : payload_(payload), size_(size) {
        shift();
        shift();
    }

    // Returns a cumulative frequency within the interval of the next symbol.
    MMP_INLINE uint32_t target(uint32_t total) {
        unit_ = range_ / total;
        return target_below(total);
    }

    MMP_INLINE void consume(uint32_t cumulative, uint32_t frequency) {
        offset_ -= unit_ * cumulative;
        range_ = unit_ * frequency;
        renormalise();
    }

    // Decodes a binary symbol: 1 below the cumulative frequency `one`, else 0.
    MMP_INLINE int bit(uint32_t total, uint32_t one) {
        unit_ = range_ / total;
        const uint64_t bound = unit_ * one;
        const int bit = offset_ < bound;
        offset_ -= bit ? 0 : bound;
        range_ = bit ? bound : unit_ * total - bound;
        renormalise();
        return bit;
    }

    // Decodes a number below 2 with equal probabilities.
    MMP_INLINE int plain_bit() {
        range_ >>= 1;
        const int bit = offset_ >= range_;
        offset_ -= bit ? range_ : 0;
        renormalise();
        return bit;
    }

    // Decodes a number below 2^bits with equal probabilities.
    MMP_INLINE uint32_t plain(int bits) {
        unit_ = range_ >> bits;
        const uint32_t number = target_below(uint32_t{1} << bits);
        consume(number, 1);
        return number;
    }

    void finish() const {
        if (position_ < size_)
            throw CorruptPayload("payload has " + std::to_string(size_) +
                                 " bytes, the picture ends after " + std::to_string(position_));
    }

private:
    MMP_INLINE uint32_t target_below(uint32_t total) const {
        const uint64_t cumulative = offset_ / unit_;
        return cumulative < total ? static_cast<uint32_t>(cumulative) : total - 1;
    }

    MMP_INLINE void renormalise() {
        if (range_ < kBottom) [[unlikely]] {
            shift();
            range_ <<= kWordBits;
        }
    }

    MMP_INLINE void shift() {
        uint32_t word = 0;
        if (position_ + kWordBytes <= size_) [[likely]]
            for (int i = 0; i < kWordBytes; ++i) word = word << 8 | payload_[position_ + i];
        else
            word = last_word(payload_, size_, position_);
        position_ += kWordBytes;
        offset_ = offset_ << kWordBits | word;
    }

    // Returns a word that ends beyond the payload. Static, so that a decoder stays in registers.
    [[gnu::noinline]] static uint32_t last_word(const uint8_t* payload, size_t size,
                                                size_t position) {
        if (position + kWordBytes > size + kStateBytes)
            throw TruncatedPayload("payload ends after " + std::to_string(size) +
                                   " bytes, before the picture does");
        uint32_t word = 0;
        for (size_t i = position; i < position + kWordBytes; ++i)
            word = word << 8 | (i < size ? payload[i] : 0);
        return word;
    }

    const uint8_t* payload_;
    size_t size_, position_ = 0;
    uint64_t range_ = kFullRange, offset_ = 0, unit_ = 0;
};

}  // namespace mmp
