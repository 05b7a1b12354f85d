// Feeds the compiled decoders payloads of any kind: libFuzzer's entry.
//
// The first bytes say what decodes, how large the picture is and with which tools, all within the
// limits that the container checks; the rest is the payload. A payload may be refused, and nothing
// else: no crash, no hang, no undefined behaviour.
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

    // A number from low to high; 0 bytes left count as low.
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

Tools tree_tools(Bytes& bytes) {
    Tools tools;
    tools.partition = bytes.number(0, 1);
    tools.index_classes = bytes.number(0, 1);
    tools.flag_contexts = bytes.number(0, 1);
    tools.copy_radius = bytes.number(0, 8);
    tools.dictionary_limit = static_cast<uint32_t>(bytes.number(256, 2000));
    tools.displaced_blocks = bytes.number(0, 4);
    tools.redundancy_radius = bytes.number(0, 65535);
    tools.replacement = bytes.number(0, 1);
    return tools;
}

template <class Sample>
void blocks(Bytes& bytes, Plane plane, int depth) {
    const BlockTools tools{bytes.number(4, 6), bytes.number(0, 1) != 0, bytes.number(0, 4),
                           bytes.number(1, 65535)};
    std::optional<Tools> trees;
    if (depth == 8 && bytes.number(0, 1)) trees = tree_tools(bytes);
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
