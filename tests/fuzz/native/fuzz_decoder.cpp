// Feeds any bytes to the compiled decoders.
//
// A decoder may decode or refuse a payload; it must not crash, hang, or have undefined behaviour,
// and must find the same with any number of threads and beside other decoders.
#include "inputs.h"

#include "cpu/blocks/codec.h"
#include "cpu/runtime/errors.h"
#include "cpu/trees/decoder.h"

namespace mmp {

namespace {

// What a decoder found: samples, or the message of its error.
struct Found {
    std::vector<uint16_t> samples;
    std::string error;
    bool operator==(const Found&) const = default;
};

template <class Sample>
Found found(Bytes choices, const std::vector<Sample>& samples, Plane plane, Depth<Sample> depth,
            int threads) {
    filter(choices, samples, plane, depth, threads);
    return {{samples.begin(), samples.end()}, ""};
}

Found trees(Bytes bytes, Plane plane, int threads) {
    const Bytes choices = bytes;
    const Tools tools = tree_tools(bytes);
    const auto picture = decode(bytes.rest(), bytes.left(), plane, tools, threads, unwatched);
    std::vector<uint8_t> samples(size_t(plane.height) * plane.width);
    picture->copy_samples(plane, samples.data());
    return found(choices, samples, plane, Depth<uint8_t>(), threads);
}

template <class Sample>
Found blocks(Bytes bytes, Plane plane, Depth<Sample> depth, int threads) {
    const Bytes choices = bytes;
    const BlockTools tools = block_tools(bytes);
    std::optional<Tools> trees;
    if (kIsByte<Sample> && tools.dictionary) trees = tree_tools(bytes);
    const Waves<Sample> earlier(plane, depth, tools.cross_component);
    const auto coded = decode_blocks(bytes.rest(), bytes.left(), plane, depth, tools, trees,
                                     earlier.samples(), threads, unwatched);
    std::vector<Sample> samples;
    for (int row = 0; row < plane.height; ++row) {
        const Sample* from = coded->picture.at(row, 0);
        samples.insert(samples.end(), from, from + plane.width);
    }
    return found(choices, samples, plane, depth, threads);
}

Found exact(Bytes bytes, Plane plane, int threads) {
    const LosslessShape shape{bytes.number(1, 4), plane.height, plane.width, bytes.number(1, 16)};
    const LosslessTools tools = lossless_tools(bytes, shape.depth);
    std::vector<uint16_t> samples(static_cast<size_t>(shape.planes * shape.plane_size()));
    LosslessRates rates;
    decode_lossless(bytes.rest(), bytes.left(), shape, tools, threads, samples.data(), unwatched,
                 rates);
    return {samples, ""};
}

Found layer(Bytes bytes, Coding coding, Plane plane, int threads) {
    try {
        switch (coding) {
            case Coding::kTrees: return trees(bytes, plane, threads);
            case Coding::kBlocks: return blocks(bytes, plane, Depth<uint8_t>(), threads);
            case Coding::kDeepBlocks: {
                const int depth = bytes.number(9, 16);
                return blocks(bytes, plane, Depth<uint16_t>(depth), threads);
            }
            default: return exact(bytes, plane, threads);
        }
    } catch (const TruncatedPayload& error) {
        return {{}, error.what()};
    } catch (const CorruptPayload& error) {
        return {{}, error.what()};
    }
}

// Decodes several layers at the same time, as the tiles of a picture are.
void tiles(Bytes bytes, Coding coding, Plane plane, int count) {
    std::vector<Bytes> parts;
    for (int tile = count; tile > 0; --tile) parts.push_back(bytes.part(tile));
    std::vector<Found> at_once(parts.size());
    std::vector<std::thread> team;
    for (size_t i = 0; i < parts.size(); ++i)
        team.emplace_back([&, i] { at_once[i] = layer(parts[i], coding, plane, 1); });
    for (std::thread& each : team) each.join();
    for (size_t i = 0; i < parts.size(); ++i)
        if (layer(parts[i], coding, plane, 1) != at_once[i]) fail("tiles at once differ");
}

}  // namespace

int run_input(const uint8_t* data, size_t size) {
    Bytes bytes(data, size);
    const auto coding = Coding(bytes.number(0, kCodings - 1));
    const int threads = threads_of(bytes);
    const bool tiled = bytes.number(0, 31) == 31;
    const Plane plane = plane_of(bytes);
    if (tiled) {
        tiles(bytes, coding, plane, std::max(2, threads));
        return 0;
    }
    const Found one = layer(bytes, coding, plane, threads);
    if (threads > 1 && layer(bytes, coding, plane, 1) != one) fail("one thread finds another");
    return 0;
}

}  // namespace mmp
