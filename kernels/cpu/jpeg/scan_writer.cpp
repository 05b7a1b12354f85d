#include <stdlib.h>

#include <algorithm>
#include <bit>

#include "cpu/jpeg/scan.h"
#include "cpu/jpeg/scan_order.h"
#include "cpu/jpeg/zigzag.h"

namespace mmp::jpeg {

namespace {

// Appends bits to bytes. Where one is 255, a zero byte follows.
class BitWriter {
public:
    // The most bytes that put() writes at once, and that the data of a sequential block has.
    static constexpr size_t kMostOfPut = 8, kMostOfBlock = 1024;

    explicit BitWriter(std::vector<uint8_t>& bytes) : bytes_(&bytes), size_(bytes.size()) {}

    size_t size() const { return size_; }
    // Makes place for as many bytes as put_reserved() may write.
    void reserve(size_t count) {
        if (bytes_->size() - size_ < count) grow();
    }
    void put(uint32_t number, int count) {
        reserve(kMostOfPut);
        put_reserved(number, count);
    }
    // Appends at most 32 bits.
    void put_reserved(uint32_t number, int count) {
        bits_ = bits_ << count | number;
        count_ += count;
        if (count_ >= 32) flush_word();
    }
    // Calls padding() for each bit that completes a byte.
    template <class Function>
    void align(const Function& padding) {
        while (count_ % 8) put(padding(), 1);
        reserve(kMostOfPut);
        for (; count_ > 0; count_ -= 8) append(uint8_t(bits_ >> (count_ - 8)));
    }
    void marker(int marker) {
        reserve(kMostOfPut);
        (*bytes_)[size_++] = 0xFF;
        (*bytes_)[size_++] = uint8_t(marker);
    }
    // Ends the bytes behind the last whole one.
    void finish(size_t most) { bytes_->resize(std::min(size_, most)); }

private:
    void append(uint8_t byte) {
        uint8_t* const bytes = bytes_->data();
        bytes[size_++] = byte;
        if (byte == 0xFF) bytes[size_++] = 0;
    }
    void flush_word() {
        count_ -= 32;
        const uint32_t word = uint32_t(bits_ >> count_);
        uint8_t* const bytes = bytes_->data() + size_;
        // Whether any byte of the inverted word is 0.
        if ((~word - 0x01010101) & word & 0x80808080) [[unlikely]] {
            for (int shift = 24; shift >= 0; shift -= 8) append(uint8_t(word >> shift));
            return;
        }
        for (int i = 0; i < 4; ++i) bytes[i] = uint8_t(word >> (24 - 8 * i));
        size_ += 4;
    }
    [[gnu::noinline]] void grow() { bytes_->resize(bytes_->size() + kWrittenAhead); }

    std::vector<uint8_t>* bytes_;
    size_t size_;
    uint64_t bits_ = 0;
    int count_ = 0;
};

class ScanWriter {
public:
    ScanWriter(const Picture& picture, const ScanDetails& details, std::vector<uint8_t>& bytes,
               size_t most)
        : picture_(picture),
          scan_(picture.scan),
          details_(details),
          begin_(bytes.size()),
          wanted_(details.cut ? std::min(most, begin_ + details.cut - 1) : most),
          bits_(bytes) {}

    void write() {
        const bool whole = each_block(
            picture_,
            [&](int i, const int16_t* levels) {
                block(i, levels);
                return is_wanted();
            },
            [&] {
                restart();
                return is_wanted();
            });
        if (whole || details_.cut) end_interval();
        bits_.finish(details_.cut ? begin_ + details_.cut : SIZE_MAX);
    }

private:
    bool is_wanted() const { return bits_.size() <= wanted_; }

    void block(int i, const int16_t* levels) {
        if (!picture_.is_progressive()) {
            sequential(i, levels);
        } else if (scan_.first == 0) {
            first_level(i, levels);
        } else if (scan_.high == 0) {
            band(i, levels);
        } else {
            refined_band(i, levels);
        }
        ++number_;
    }

    void symbol(const HuffmanTable& table, int symbol) {
        const HuffmanTable::Code& code = table.code(symbol);
        bits_.put(code.code, code.length);
    }
    // Writes `run` zeros and a level other than 0.
    void level(const HuffmanTable& table, int run, int level) {
        const Coded coded(level);
        symbol(table, run << 4 | coded.size);
        bits_.put(coded.bits, coded.size);
    }
    // The bits of a level behind its symbol, at most 16, or 17 of a difference.
    struct Coded {
        int size;
        uint32_t bits;
        explicit Coded(int level)
            : size(int(std::bit_width(unsigned(abs(level))))),
              bits(uint32_t(level + (level >> 31)) & ((1u << size) - 1)) {}
    };
    void difference(int i, int value) {
        const int change = value - before_[i];
        before_[i] = value;
        const HuffmanTable& table = picture_.dc[scan_.dc[i]];
        if (change)
            level(table, 0, change);
        else
            symbol(table, 0);
    }
    // How often 16 zeros are coded before the end of this block.
    uint32_t zeros() {
        if (next_zeros_ == details_.zeros.size() || details_.zeros[next_zeros_].first != number_)
            return 0;
        return details_.zeros[next_zeros_++].second;
    }

    void sequential(int i, const int16_t* levels) {
        bits_.reserve(BitWriter::kMostOfBlock);
        BitWriter bits = bits_;  // stays in registers
        const auto symbol = [&](const HuffmanTable& table, int symbol) {
            const HuffmanTable::Code& code = table.code(symbol);
            bits.put_reserved(code.code, code.length);
        };
        const Coded change(levels[0] - before_[i]);
        before_[i] = levels[0];
        symbol(picture_.dc[scan_.dc[i]], change.size);
        bits.put_reserved(change.bits, change.size);
        const HuffmanTable& table = picture_.ac[scan_.ac[i]];
        int next = 1;
        for (uint64_t left = levels_in_zigzag(levels) & ~uint64_t{1}; left; left &= left - 1) {
            const int z = std::countr_zero(left);
            for (; z - next > 15; next += 16) symbol(table, 0xF0);
            const Coded level(levels[kZigzag[z]]);
            const HuffmanTable::Code& code = table.code((z - next) << 4 | level.size);
            bits.put_reserved(uint32_t{code.code} << level.size | level.bits,
                              code.length + level.size);
            next = z + 1;
        }
        for (uint32_t more = zeros(); more && next < kBlockLevels; --more, next += 16)
            symbol(table, 0xF0);
        if (next < kBlockLevels) symbol(table, 0);
        bits_ = bits;
    }

    void first_level(int i, const int16_t* levels) {
        if (scan_.high)
            bits_.put(unsigned(levels[0] >> scan_.low & 1), 1);
        else
            difference(i, levels[0] >> scan_.low);
    }

    void end_run() {
        if (run_) {
            const int digits = int(std::bit_width(run_)) - 1;
            symbol(*table_, digits << 4);
            bits_.put(run_ & ((1u << digits) - 1), digits);
            run_ = 0;
        }
        for (const bool bit : refinements_) bits_.put(bit, 1);
        refinements_.clear();
    }
    void begin_block() {
        if (next_start_ < details_.run_starts.size() &&
            details_.run_starts[next_start_] == number_) {
            ++next_start_;
            end_run();
        }
    }
    void end_block() {
        ++run_;
        if (run_ >= details_.most_run ||
            (details_.most_refinements && refinements_.size() > details_.most_refinements))
            end_run();
    }
    int magnitude(int16_t level) const { return abs(level) >> scan_.low; }

    void band(int i, const int16_t* levels) {
        begin_block();
        table_ = &picture_.ac[scan_.ac[i]];
        int next = scan_.first;
        for (int k = scan_.first; k <= scan_.last; ++k) {
            const int own = magnitude(levels[kZigzag[k]]);
            if (!own) continue;
            end_run();
            for (; k - next > 15; next += 16) symbol(*table_, 0xF0);
            level(*table_, k - next, levels[kZigzag[k]] < 0 ? -own : own);
            next = k + 1;
        }
        const uint32_t more = zeros();
        if (more) end_run();
        for (uint32_t j = more; j && next <= scan_.last; --j, next += 16) symbol(*table_, 0xF0);
        if (next <= scan_.last) end_block();
    }

    void refined_band(int i, const int16_t* levels) {
        begin_block();
        table_ = &picture_.ac[scan_.ac[i]];
        int end = scan_.last + 1;
        while (end > scan_.first && magnitude(levels[kZigzag[end - 1]]) != 1) --end;
        int run = 0;
        std::vector<bool> own_refinements;
        for (int k = scan_.first; k <= scan_.last; ++k) {
            const int16_t own = levels[kZigzag[k]];
            const int size = magnitude(own);
            if (!size) {
                ++run;
                continue;
            }
            while (run > 15 && k < end) {
                end_run();
                symbol(*table_, 0xF0);
                run -= 16;
                refinements_.swap(own_refinements);
                end_run();
            }
            if (size > 1) {
                own_refinements.push_back(size & 1);
                continue;
            }
            end_run();
            symbol(*table_, run << 4 | 1);
            bits_.put(own > 0, 1);
            run = 0;
            refinements_.swap(own_refinements);
            end_run();
        }
        if (run || !own_refinements.empty()) {
            refinements_.insert(refinements_.end(), own_refinements.begin(),
                                own_refinements.end());
            end_block();
        }
    }

    void end_interval() {
        end_run();
        bits_.align([&]() -> uint32_t {
            if (details_.padding != Padding::listed) return details_.padding == Padding::ones;
            return next_padding_ < details_.padding_bits.size() &&
                   details_.padding_bits[next_padding_++];
        });
    }
    void restart() {
        end_interval();
        bits_.marker(kFirstRestart + restarts_++ % 8);
        std::fill_n(before_, kMostComponents, 0);
    }

    const Picture& picture_;
    const ScanHeader& scan_;
    const ScanDetails& details_;
    const size_t begin_, wanted_;  // bytes above `wanted_` end the writing
    BitWriter bits_;
    const HuffmanTable* table_ = nullptr;
    std::vector<bool> refinements_;
    int before_[kMostComponents] = {};
    uint32_t number_ = 0, run_ = 0;
    size_t next_zeros_ = 0, next_start_ = 0, next_padding_ = 0;
    int restarts_ = 0;
};

}  // namespace

void write_scan_data(const Picture& picture, const ScanDetails& details,
                     std::vector<uint8_t>& bytes, size_t most) {
    ScanWriter(picture, details, bytes, most).write();
}

}  // namespace mmp::jpeg
