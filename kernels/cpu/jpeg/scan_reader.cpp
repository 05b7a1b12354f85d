#include <algorithm>

#include "cpu/jpeg/scan.h"
#include "cpu/jpeg/scan_order.h"

namespace mmp::jpeg {

namespace {

// Bits of the data of a scan. A zero byte after 255 is left out; any other ends the data.
class BitReader {
public:
    BitReader(const uint8_t* data, size_t size) : begin_(data), at_(data), end_(data + size) {}

    // The next 16 bits, with zeros after the last one.
    uint32_t word() {
        if (count_ < 32) fill();
        return uint32_t(bits_ >> 48);
    }
    uint32_t word32() {
        if (count_ < 32) fill();
        return uint32_t(bits_ >> 32);
    }
    // Takes bits that word() or its 32 bits have; they may be beyond the last one.
    void take(int count) {
        bits_ <<= count;
        count_ -= count;
    }
    uint32_t number(int count) {
        if (!count) return 0;
        if (count_ < 32) fill();
        const uint32_t number = uint32_t(bits_ >> (64 - count));
        take(count);
        return number;
    }
    // Whether more bits were taken than there are.
    bool is_over() const { return count_ < 0; }

    // Calls padding(bit) for the bits that complete a byte.
    template <class Function>
    void align(const Function& padding) {
        for (; count_ > 0 && count_ % 8; take(1)) padding(bool(bits_ >> 63));
    }
    // Bytes before the next one, of which no bit is taken.
    size_t position() {
        for (; count_ >= 8; count_ -= 8)
            at_ -= at_ - begin_ >= 2 && at_[-1] == 0 && at_[-2] == 0xFF ? 2 : 1;
        count_ = 0;
        bits_ = 0;
        return size_t(at_ - begin_);
    }
    bool take_marker(int marker) {
        position();
        if (end_ - at_ < 2 || at_[0] != 0xFF || at_[1] != marker) return false;
        at_ += 2;
        return true;
    }

private:
    void fill() {
        if (end_ - at_ >= 4 && count_ >= 0 && count_ <= 32) {
            uint32_t word = 0;
            for (int i = 0; i < 4; ++i) word = word << 8 | at_[i];
            // Whether no byte of the inverted word is 0.
            if (!((~word - 0x01010101) & word & 0x80808080)) [[likely]] {
                bits_ |= uint64_t{word} << (32 - count_);
                count_ += 32;
                at_ += 4;
                return;
            }
        }
        while (count_ <= 56) {
            if (at_ == end_) return;
            const uint8_t byte = *at_;
            if (byte == 0xFF) {
                if (end_ - at_ < 2 || at_[1] != 0) return;
                ++at_;
            }
            ++at_;
            if (count_ >= 0) bits_ |= uint64_t{byte} << (56 - count_);
            count_ += 8;
        }
    }

    const uint8_t *begin_, *at_, *end_;
    uint64_t bits_ = 0;
    int count_ = 0;
};

class ScanReader {
public:
    ScanReader(const uint8_t* data, size_t size, Picture& picture, ScanDetails& details)
        : bits_(data, size), picture_(picture), scan_(picture.scan), details_(details) {}

    size_t read() {
        const bool whole = each_block(
            picture_,
            [&](int i, int16_t* levels) { return this->block(i, levels) && !bits_.is_over(); },
            [&] { return restart(); });
        if (whole) bits_.align([&](bool bit) { padding_.push_back(bit); });
        set_padding();
        const size_t bytes = bits_.position();
        if (!whole) details_.cut = std::max<size_t>(bytes, 1);
        return bytes;
    }

private:
    bool block(int i, int16_t* levels) {
        const bool known = !picture_.is_progressive() ? sequential(i, levels)
                           : scan_.first == 0         ? first_level(i, levels)
                           : scan_.high == 0          ? band(i, levels)
                                                      : refined_band(i, levels);
        ++number_;
        return known;
    }

    // Reads a symbol; -1 if there is no such code.
    int symbol(const HuffmanTable& table) {
        const HuffmanTable::Found found = table.find(bits_.word());
        if (!found.length) return -1;
        bits_.take(found.length);
        return found.symbol;
    }
    // Reads a level of `size` bits, which has no sign bit.
    int level(int size) {
        const int number = int(bits_.number(size));
        return size && number < 1 << (size - 1) ? number - (1 << size) + 1 : number;
    }

    bool difference(int i, int& value) {
        const int size = symbol(picture_.dc[scan_.dc[i]]);
        if (size < 0 || size > 15) return false;
        value = before_[i] + level(size);
        if (value < -32768 || value > 32767) return false;
        before_[i] = value;
        return true;
    }

    bool sequential(int i, int16_t* levels) {
        int first;
        if (!difference(i, first)) return false;
        levels[0] = int16_t(first);
        const HuffmanTable& table = picture_.ac[scan_.ac[i]];
        BitReader bits = bits_;  // stays in registers
        const Ends ends = levels_behind_first(table, bits, levels);
        bits_ = bits;
        if (ends.known && ends.zeros) details_.zeros.push_back({number_, ends.zeros});
        return ends.known;
    }
    struct Ends {
        bool known;
        uint32_t zeros;  // how often 16 zeros are coded behind the last level
    };
    static Ends levels_behind_first(const HuffmanTable& table, BitReader& bits, int16_t* levels) {
        uint32_t zeros = 0;
        for (int k = 1; k < kBlockLevels; ++k) {
            const uint32_t word = bits.word32();
            const HuffmanTable::Found found = table.find(word >> 16);
            if (!found.length) return {false, 0};
            const int size = found.symbol & 15;
            k += found.symbol >> 4;
            if (size) {
                bits.take(found.length);
                if (k >= kBlockLevels || bits.is_over()) return {false, 0};
                bits.take(size);
                const uint32_t number = word << found.length >> (32 - size);
                // A number that begins with 0 is a level below 0.
                const int below = int(word << found.length >> 31) - 1;
                levels[kZigzag[k]] = int16_t(int(number) + (below & (1 - (1 << size))));
                zeros = 0;
                continue;
            }
            bits.take(found.length);
            if (found.symbol == 0xF0) {
                ++zeros;
                if (k >= kBlockLevels) return {false, 0};
            } else {
                return {found.symbol == 0, zeros};
            }
        }
        return {true, zeros};
    }

    bool first_level(int i, int16_t* levels) {
        if (scan_.high) {
            if (bits_.number(1)) levels[0] = int16_t(levels[0] | 1 << scan_.low);
            return true;
        }
        int value;
        if (!difference(i, value)) return false;
        value *= 1 << scan_.low;
        levels[0] = int16_t(value);
        return value == levels[0];
    }

    // Begins a run of blocks that end together, at this block.
    bool begin_run(int digits) {
        run_ = (1u << digits) + bits_.number(digits);
        if (ended_at_ == number_ && number_ > 0) details_.run_starts.push_back(number_);
        longest_ = std::max(longest_, run_);
        return true;
    }
    void end_in_run() {
        --run_;
        if (!run_) ended_at_ = number_ + 1;
    }

    bool band(int i, int16_t* levels) {
        if (run_) {
            end_in_run();
            return true;
        }
        const HuffmanTable& table = picture_.ac[scan_.ac[i]];
        bool any = false;
        uint32_t zeros = 0;
        for (int k = scan_.first; k <= scan_.last; ++k) {
            const int found = symbol(table);
            if (found < 0) return false;
            const int size = found & 15, run = found >> 4;
            if (size) {
                k += run;
                if (k > scan_.last || bits_.is_over()) return false;
                const int value = level(size) * (1 << scan_.low);
                levels[kZigzag[k]] = int16_t(value);
                if (value != levels[kZigzag[k]]) return false;
                any = true;
                zeros = 0;
            } else if (run == 15) {
                k += 15;
                ++zeros;
                any = true;
                if (k > scan_.last) return false;
            } else {
                if (any) ended_at_ = UINT32_MAX;
                begin_run(run);
                end_in_run();
                break;
            }
        }
        if (zeros) details_.zeros.push_back({number_, zeros});
        return true;
    }

    bool refine(int16_t& level) {
        if (bits_.number(1)) level = int16_t(level + (level > 0 ? 1 : -1) * (1 << scan_.low));
        return !bits_.is_over();
    }

    bool refined_band(int i, int16_t* levels) {
        const HuffmanTable& table = picture_.ac[scan_.ac[i]];
        int k = scan_.first;
        if (!run_) {
            bool any = false;
            for (; k <= scan_.last; ++k) {
                const int found = symbol(table);
                if (found < 0) return false;
                const int size = found & 15;
                int run = found >> 4, fresh = 0;
                if (size) {
                    if (size != 1) return false;
                    fresh = bits_.number(1) ? 1 << scan_.low : -(1 << scan_.low);
                    any = true;
                } else if (run < 15) {
                    if (any) ended_at_ = UINT32_MAX;
                    begin_run(run);
                    break;
                } else {
                    any = true;
                }
                for (; k <= scan_.last; ++k) {
                    int16_t& own = levels[kZigzag[k]];
                    if (own) {
                        if (!refine(own)) return false;
                    } else if (--run < 0) {
                        break;
                    }
                }
                if (fresh) {
                    if (k > scan_.last) return false;
                    levels[kZigzag[k]] = int16_t(fresh);
                }
            }
        }
        if (run_) {
            for (; k <= scan_.last; ++k)
                if (levels[kZigzag[k]] && !refine(levels[kZigzag[k]])) return false;
            end_in_run();
        }
        return true;
    }

    bool restart() {
        if (run_) return false;
        bits_.align([&](bool bit) { padding_.push_back(bit); });
        if (!bits_.take_marker(kFirstRestart + restarts_++ % 8)) return false;
        std::fill_n(before_, kMostComponents, 0);
        ended_at_ = UINT32_MAX;
        return true;
    }

    void set_padding() {
        details_.most_run = longest_ > 1 ? kMostRun : std::max(longest_, 1u);
        const size_t ones = size_t(std::count(padding_.begin(), padding_.end(), true));
        if (ones == padding_.size()) {
            details_.padding = Padding::ones;
        } else if (ones == 0) {
            details_.padding = Padding::zeros;
        } else {
            details_.padding = Padding::listed;
            details_.padding_bits = padding_;
        }
    }

    BitReader bits_;
    Picture& picture_;
    const ScanHeader& scan_;
    ScanDetails& details_;
    std::vector<bool> padding_;
    int before_[kMostComponents] = {};
    uint32_t number_ = 0, run_ = 0, longest_ = 0, ended_at_ = UINT32_MAX;
    int restarts_ = 0;
};

}  // namespace

size_t read_scan_data(const uint8_t* data, size_t size, size_t most, Picture& picture,
                      ScanDetails& details) {
    return ScanReader(data, std::min(size, most), picture, details).read();
}

}  // namespace mmp::jpeg
