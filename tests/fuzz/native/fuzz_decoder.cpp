// Entry of libFuzzer: feeds any bytes to the compiled decoders.
//
// The first bytes choose the coding, the size of the picture and the tools, within the limits that
// the container checks; the rest is the payload. A decoder may decode or refuse the payload; it
// must not crash, hang, or have undefined behaviour.
#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "cpu/blocks/codec.h"
#include "cpu/trees/decoder.h"
#include "cpu/runtime/errors.h"
#include "cpu/exact/codec.h"

using namespace mmp;

namespace {

const Progress unwatched = [](int64_t, int64_t) {};

class Bytes {
public:
    Bytes(const uint8_t* data, size_t size) : data_(data), end_(data + size) {}

    // The next number from low to high; low if no bytes are left.
    int number(int low, int high) {
        unsigned value = 0;
        for (int bytes = high - low > 255 ? 2 : 1; bytes > 0 && data_ < end_; --bytes)
            value = value << 8 | *data_++;
        return low + static_cast<int>(value % static_cast<unsigned>(high - low + 1));
    }
    const uint8_t* rest() const { return data_; }
    size_t left() const { return static_cast<size_t>(end_ - data_); }

private:
    const uint8_t* data_;
    const uint8_t* end_;
};

// The tools come in the order and with the ranges of the header.
#define MMP_NEXT_TOOL(name, low, high) bytes.number(low, high),

// Small dictionaries, from 256 to 2000 elements, keep the fuzzer fast.
constexpr int kLimits = 1745;

Tools tree_tools(Bytes& bytes) {
    Tools tools{MMP_TREE_TOOLS(MMP_NEXT_TOOL)};
    tools.dictionary_limit = 256 + (tools.dictionary_limit - 256) % kLimits;
    return tools;
}

template <class Sample>
void blocks(Bytes& bytes, Plane plane, int depth) {
    BlockTools tools{MMP_BLOCK_TOOLS(MMP_NEXT_TOOL) 0};
    tools.fragment_log2 = 31 - __builtin_clz(tools.fragment_size);
    std::optional<Tools> trees;
    if (depth == 8 && tools.dictionary) trees = tree_tools(bytes);
    decode_blocks(bytes.rest(), bytes.left(), plane, Depth<Sample>(depth), tools, trees, 1,
                  unwatched);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Bytes bytes(data, size);
    const int kind = bytes.number(0, 3);
    const Plane plane{bytes.number(1, 80), bytes.number(1, 80)};
    try {
        if (kind == 0) {
            const Tools tools = tree_tools(bytes);
            decode(bytes.rest(), bytes.left(), plane, tools, 1, unwatched);
        } else if (kind == 1) {
            blocks<uint8_t>(bytes, plane, 8);
        } else if (kind == 2) {
            blocks<uint16_t>(bytes, plane, bytes.number(9, 16));
        } else {
            const ExactShape shape{bytes.number(1, 4), plane.height, plane.width,
                                   bytes.number(1, 16)};
            std::vector<uint16_t> samples(static_cast<size_t>(shape.planes * shape.plane_size()));
            ExactRates rates;
            decode_exact(bytes.rest(), bytes.left(), shape, samples.data(), unwatched, rates);
        }
    } catch (const TruncatedPayload&) {
    } catch (const CorruptPayload&) {
    }
    return 0;
}
