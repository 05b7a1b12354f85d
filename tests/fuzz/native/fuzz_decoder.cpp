// Feeds any bytes to the compiled decoders.
//
// A decoder may decode or refuse a payload; it must not crash, hang, or have undefined behaviour,
// and must find the same with any number of threads and beside other decoders.
#include "inputs.h"

#include <utility>

#include "cpu/blocks/codec.h"
#include "cpu/runtime/errors.h"
#include "cpu/tiles/crew.h"
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

// A tile whose layers have any coding that its form allows.
CodedTile tile_of(Bytes bytes, const PictureForm& form, Plane plane) {
    const bool is_fine = form.colours == 3 && bytes.number(0, 1);
    CodedTile tile{plane.height, plane.width, is_fine ? Layout::kFineLuma : Layout::kApart,
                   {bytes.number(-128, 127), 3, -5}, std::nullopt, {}, 0, 0};
    tile.layers.resize(size_t(form.planes()));
    for (int number = 0; number < form.planes(); ++number) {
        Bytes own = bytes.part(form.planes() - number);
        CodedLayer& layer = tile.layers[size_t(number)];
        const int coding = own.number(0, 2);
        layer.tools = lossless_tools(own, tile.layer_depth(form, size_t(number)));
        const int depth = tile.layer_depth(form, size_t(number));
        if (coding == 1) {
            BlockLayerTools tools{block_tools(own), std::nullopt};
            const bool is_alpha = number == form.colours;
            tools.blocks.cross_component =
                is_alpha ? 0 : std::min(tools.blocks.cross_component, number);
            if (depth > 8) tools.blocks.dictionary = 0;
            if (tools.blocks.dictionary) tools.trees = tree_tools(own);
            for (int plane = 0; plane < tools.blocks.cross_component; ++plane)
                layer.planes_read.push_back(plane);
            layer.plane_weights.assign(layer.planes_read.size() * kPlaneTaps, 9);
            layer.tools = tools;
        } else if (coding == 2 && depth == 8) {
            layer.tools = tree_tools(own);
        }
        if (own.number(0, 1) && !layer.is_lossless())
            layer.post_filter.emplace(size_t(kFilterClasses) * kFilterTaps, int16_t{5});
        layer.payload = {own.rest(), own.left()};
    }
    return tile;
}

// Decodes several tiles by one thread and by several, and compares.
void tiles(Bytes bytes, Plane plane, int count) {
    const int depth = bytes.number(0, 1) ? 8 : 12;
    const PictureForm form{bytes.number(0, 1) ? 3 : 1, bytes.number(0, 1) > 0, depth, depth, 0};
    const int64_t row = int64_t{plane.width} * form.planes();
    const auto decoded = [&](int threads) {
        Bytes left = bytes;
        std::vector<uint16_t> samples(size_t(count * plane.height * row));  // for uint8_t too
        std::vector<TileJob> jobs;
        for (int tile = 0; tile < count; ++tile) {
            void* place = samples.data() + tile * plane.height * row;
            jobs.push_back({tile_of(left.part(count - tile), form, plane),
                            {place, row, form.planes(), 0, 0, plane.height, plane.width}});
        }
        const auto found = decode_tiles(form, jobs, true, threads, unwatched, true, 1e-4);
        std::vector<std::string> faults;
        for (const DecodedTile& tile : found) faults.push_back(tile.fault ? tile.fault->text : "");
        return std::pair{samples, faults};
    };
    if (decoded(1) != decoded(count + 1)) fail("threads find other tiles");
}

}  // namespace

int run_input(const uint8_t* data, size_t size) {
    Bytes bytes(data, size);
    const auto coding = Coding(bytes.number(0, kCodings - 1));
    const int threads = threads_of(bytes);
    const bool tiled = bytes.number(0, 31) == 31;
    const Plane plane = plane_of(bytes);
    if (tiled) {
        tiles(bytes, plane, std::max(2, threads));
        return 0;
    }
    const Found one = layer(bytes, coding, plane, threads);
    if (threads > 1 && layer(bytes, coding, plane, 1) != one) fail("one thread finds another");
    return 0;
}

}  // namespace mmp
