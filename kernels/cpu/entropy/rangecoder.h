// Carry-safe integer range coder; docs/format/rangecoder.md states its invariants.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "cpu/runtime/errors.h"
#include "cpu/runtime/simd.h"

namespace mmp {

constexpr int kTopBits = 56;
constexpr uint64_t kTop = uint64_t{1} << kTopBits;
constexpr uint64_t kBottom = kTop >> 8;
constexpr int kStateBytes = kTopBits / 8;

class RangeEncoder {
public:
    void encode(uint32_t cumulative, uint32_t frequency, uint32_t total) {
        narrow(range_ / total, cumulative, frequency);
    }

    // Encodes a number below 2^bits with equal probabilities.
    void encode_plain(uint32_t number, int bits) { narrow(range_ >> bits, number, 1); }

    // Appends the shortest byte string that identifies a number within the final interval; returns
    // the payload.
    const std::vector<uint8_t>& finish() {
        const uint64_t last = low_ + range_ - 1;
        const bool none_needed = low_ == 0 || last >= kTop;
        const uint64_t unit = none_needed ? kTop : kBottom;
        low_ = last / unit * unit;
        if (low_ >= kTop) carry();
        if (!none_needed) payload_.push_back(static_cast<uint8_t>(low_ >> (kTopBits - 8)));
        return payload_;
    }

    const std::vector<uint8_t>& payload() const { return payload_; }

private:
    void narrow(uint64_t unit, uint32_t cumulative, uint32_t frequency) {
        low_ += unit * cumulative;
        range_ = unit * frequency;
        if (low_ >= kTop) carry();
        while (range_ < kBottom) {
            payload_.push_back(static_cast<uint8_t>(low_ >> (kTopBits - 8)));
            low_ = (low_ << 8) & (kTop - 1);
            range_ <<= 8;
        }
    }

    void carry() {
        low_ -= kTop;
        auto byte = payload_.rbegin();
        while (*byte == 0xFF) *byte++ = 0;
        ++*byte;
    }

    uint64_t low_ = 0, range_ = kTop;
    std::vector<uint8_t> payload_;
};

class RangeDecoder {
public:
    RangeDecoder(const uint8_t* payload, size_t size) : payload_(payload), size_(size) {
        for (int i = 0; i < kStateBytes; ++i) shift();
    }

    // Returns a cumulative frequency within the interval of the next symbol.
    MMP_INLINE uint32_t target(uint32_t total) {
        unit_ = range_ / total;
        return target_below(total);
    }

    MMP_INLINE void consume(uint32_t cumulative, uint32_t frequency) {
        offset_ -= unit_ * cumulative;
        range_ = unit_ * frequency;
        while (range_ < kBottom) {
            shift();
            range_ <<= 8;
        }
    }

    // Decodes a binary symbol: 0 below the cumulative frequency `zero`, else 1.
    MMP_INLINE int bit(uint32_t total, uint32_t zero) {
        unit_ = range_ / total;
        const uint64_t bound = unit_ * zero;
        const int bit = offset_ >= bound;
        offset_ -= bit ? bound : 0;
        range_ = bit ? unit_ * total - bound : bound;
        while (range_ < kBottom) {
            shift();
            range_ <<= 8;
        }
        return bit;
    }
    // Decodes a number below 2 with equal probabilities.
    MMP_INLINE int plain_bit() {
        range_ >>= 1;
        const int bit = offset_ >= range_;
        offset_ -= bit ? range_ : 0;
        while (range_ < kBottom) {
            shift();
            range_ <<= 8;
        }
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

    [[noreturn]] static  void fail(size_t size) {
        throw TruncatedPayload("payload ends after " + std::to_string(size) +
                               " bytes, before the picture does");
    }

    MMP_INLINE void shift() {
        const uint8_t byte = position_ < size_ ? payload_[position_] : 0;
        if (++position_ > size_ + kStateBytes) [[unlikely]] fail(size_);
        offset_ = ((offset_ << 8) | byte) & (kTop - 1);
    }

    const uint8_t* payload_;
    size_t size_, position_ = 0;
    uint64_t range_ = kTop, offset_ = 0, unit_ = 0;
};

}  // namespace mmp
