#include "cpu/jpeg/bytes_coder.h"

#include <algorithm>

#include "cpu/entropy/logistic_mixing.h"
#include "cpu/entropy/rangecoder.h"
#include "cpu/runtime/simd.h"
#include "shared/entropy/binary.h"
#include "shared/tables.h"

namespace mmp::jpeg {

namespace {

// The models of bytes, and what was coded. Both directions read and learn alike.
class ByteModels {
public:
    explicit ByteModels(std::vector<uint8_t>& history)
        : history_(history),
          mixing_({256, 256, 0}, {1, 256, 0, 0, 0, 0, 0, 0}, {kMostMatch + 1, 1, 1, 1}),
          last_(size_t{1} << kHashBits) {}

    // Codes the byte behind the history; coded(probability, bit) codes a bit.
    template <class Coded>
    MMP_INLINE void code(int given, const Coded& coded) {
        find_match();
        const size_t size = history_.size();
        const auto before = [&](size_t back) -> uint32_t {
            return back <= size ? history_[size - back] : 0;
        };
        const uint32_t two = before(1) | before(2) << 8, four = two | before(3) << 16 | before(4) << 24;
        const uint32_t expected = match_ ? history_[match_] + 1u : 0;
        mixing_.select({0, before(1), hash(2, two), hash(3, four & 0xFFFFFF), hash(4, four),
                        hash(5, four * 0x2F0B4C47u + (before(5) | before(6) << 8)),
                        hash(6, expected << 5 | uint32_t(length_)),
                        hash(7, before(12) << 8 | before(1) | uint32_t(size & 1) << 16)},
                       {expected ? length_ : 0, 0, 0, 0});
        int node = 1;
        for (int bit = 7; bit >= 0; --bit) {
            const int one = mixing_.predict(node);
            const int found = coded(one, given >> bit & 1);
            mixing_.learn(node, found);
            node = 2 * node + found;
        }
        push(uint8_t(node));
    }

private:
    static constexpr int kHashBits = 16, kMostMatch = 15, kLeastMatch = 4;

    static uint32_t hash(uint32_t number, uint32_t context) {
        return (context + number * 0x9E3779B1u) * 0x2545F491u ^ number;
    }
    // Finds where the last bytes occurred before, and notes that they occur here.
    void find_match() {
        const size_t size = history_.size();
        if (size < kLeastMatch) return;
        uint32_t& last = last_[key()];
        if (!match_ && last) {
            int same = 0;
            while (same < kMostMatch && size_t(same) < last &&
                   history_[last - 1 - same] == history_[size - 1 - same])
                ++same;
            if (same >= kLeastMatch) {
                match_ = last;
                length_ = same;
            }
        }
        last = uint32_t(size);
    }
    uint32_t key() const {
        const uint8_t* end = history_.data() + history_.size();
        const uint32_t four = uint32_t(end[-1] | end[-2] << 8 | end[-3] << 16) | uint32_t(end[-4]) << 24;
        return (four * 0x9E3779B1u) >> (32 - kHashBits);
    }
    void push(uint8_t byte) {
        if (match_) {
            if (history_[match_] == byte) {
                ++match_;
                length_ = std::min(length_ + 1, kMostMatch);
            } else {
                match_ = 0;
                length_ = 0;
            }
        }
        history_.push_back(byte);
    }

    std::vector<uint8_t>& history_;
    LogisticMixing<8> mixing_;
    std::vector<uint32_t> last_;  // place behind the last occurrence, by a hash of four bytes
    size_t match_ = 0;            // place of the byte that is expected; 0: none is
    int length_ = 0;
};

MMP_SIMD_LEVELS void learn_usual(ByteModels& models) {
    for (const uint8_t byte : kUsualBytes)
        models.code(byte, [](int, int bit) __attribute__((always_inline)) { return bit; });
}

MMP_SIMD_LEVELS void encode_all(const std::vector<uint8_t>& bytes, ByteModels& models,
                                RangeEncoder& coder) {
    for (const uint8_t byte : bytes)
        models.code(byte, [&](int one, int bit) __attribute__((always_inline)) {
            coder.encode(bit ? 0 : one, bit ? one : kBitTotal - one, kBitTotal);
            return bit;
        });
}

MMP_SIMD_LEVELS void decode_all(size_t count, ByteModels& models, RangeDecoder& coder) {
    for (size_t i = 0; i < count; ++i)
        models.code(0, [&](int one, int) __attribute__((always_inline)) {
            return coder.bit(kBitTotal, one);
        });
}

}  // namespace

std::vector<uint8_t> encode_bytes(const std::vector<uint8_t>& bytes) {
    std::vector<uint8_t> history;
    ByteModels models(history);
    learn_usual(models);
    RangeEncoder coder;
    encode_all(bytes, models, coder);
    return coder.finish();
}

std::vector<uint8_t> decode_bytes(const uint8_t* payload, size_t size, size_t count) {
    std::vector<uint8_t> history;
    ByteModels models(history);
    learn_usual(models);
    RangeDecoder coder(payload, size);
    // Called directly, a function of several SIMD levels is taken for one that throws nothing.
    void (*volatile decode)(size_t, ByteModels&, RangeDecoder&) = decode_all;
    decode(count, models, coder);
    coder.finish();
    history.erase(history.begin(), history.begin() + sizeof kUsualBytes);
    return history;
}

}  // namespace mmp::jpeg
