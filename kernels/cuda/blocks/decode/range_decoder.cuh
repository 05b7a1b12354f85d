// Carry-safe integer range decoder; docs/format/rangecoder.md states its invariants. One thread runs
// it.
#pragma once

#include "shared/integers.h"

namespace mmp {

class RangeDecoder {
public:
    // The payload begins at a multiple of four bytes; zeros follow it up to such a place, and four
    // bytes more.
    __device__ RangeDecoder(const uint8_t* payload, uint32_t size)
        : words_(reinterpret_cast<const uint32_t*>(payload)), size_(size), zeros_((size + 3) / 4) {
        load();
        shift();
        shift();
    }

    // Decodes a binary symbol: 1 below the probability `one` in 1/65536, else 0.
    __device__ int bit(uint32_t one) {
        const uint64_t unit = range_ >> 16, bound = unit * one;
        const bool bit = offset_ < bound;
        offset_ -= bit ? 0 : bound;
        range_ = bit ? bound : (unit << 16) - bound;
        renormalise();
        return bit;
    }
    // Decodes a number below 2^bits with equal probabilities.
    __device__ uint32_t plain(int bits) {
        uint32_t number = 0;
        const uint64_t unit = range_ >> bits;
        if (bits == 1) {
            number = offset_ >= unit;
        } else {
            const uint64_t place = offset_ / unit;
            const uint32_t most = (1u << bits) - 1;
            number = place < most ? uint32_t(place) : most;
        }
        consume(unit, number, 1);
        return number;
    }
    // Returns a cumulative frequency within the interval of the next symbol, and sets `unit`.
    __device__ uint32_t target(uint32_t total, uint64_t& unit) const {
        unit = range_ / total;
        const uint64_t cumulative = offset_ / unit;
        return cumulative < total ? uint32_t(cumulative) : total - 1;
    }
    __device__ void consume(uint64_t unit, uint32_t cumulative, uint32_t frequency) {
        offset_ -= unit * cumulative;
        range_ = unit * frequency;
        renormalise();
    }

    // Whether the decoder has read beyond the bytes that follow a payload.
    __device__ bool is_truncated() const {
        return uint64_t{words_read_} * kWordBytes > uint64_t{size_} + kStateBytes;
    }
    __device__ bool has_rest() const { return uint64_t{words_read_} * kWordBytes < size_; }

private:
    static constexpr int kWordBytes = 4, kStateBytes = 2 * kWordBytes;

    __device__ void renormalise() {
        if (range_ >> 32) return;
        shift();
        range_ <<= 32;
    }
    // Takes the next word, and loads the one after it, so that no symbol waits for it.
    __device__ void shift() {
        offset_ = offset_ << 32 | next_;
        ++words_read_;
        load();
    }
    __device__ void load() {
        const uint32_t word = __ldg(words_ + (words_read_ < zeros_ ? words_read_ : zeros_));
        next_ = __byte_perm(word, 0, 0x0123);
    }

    const uint32_t* words_;
    uint64_t range_ = ~uint64_t{0}, offset_ = 0;
    uint32_t size_, zeros_, words_read_ = 0, next_ = 0;
};

}  // namespace mmp
