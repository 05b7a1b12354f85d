// The functions that mmpcodec/web/mmp.wasm exports: memory, and decoding of a tile in one call.
#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <new>
#include <vector>

#include "cpu/tiles/parts.h"
#include "web/export.h"

namespace {

using namespace mmp;

constexpr int kBlocks = 1, kLossless = 2;  // numbers of codings, as in a file
constexpr int64_t kMostChainPixels = int64_t{1} << 29;  // whose sizes in bytes fit 32 bits

// What is being decoded. An error leaves the module, so it stays.
TilePart part_now = TilePart::kColours;
int layer_now = 0;
int earlier_now = 0;  // number from 1 of a plane that the tile continues; 0 for the tile

// A plane that the only plane of a tile continues.
struct EarlierPlane {
    LosslessShape shape;
    LosslessTools tools;
    Payload payload;
};

// Reads the numbers that mmpcodec/web/decoder/tile_decoder.js writes for a tile.
class NumbersOfTile {
public:
    NumbersOfTile(const int32_t* numbers, const uint8_t* bytes) : next_(numbers), bytes_(bytes) {}

    PictureForm form() {
        const int colours = next(), alpha = next(), depth = next();
        return {colours, alpha != 0, depth, depth, 0};
    }
    CodedTile tile() {
        CodedTile tile{};
        tile.height = next(), tile.width = next();
        tile.layout = Layout(next());
        for (int& axis : tile.rotation) axis = next();
        if (next()) tile.palette = palette();
        tile.layers.resize(size_t(next()));
        for (CodedLayer& own : tile.layers) own = layer();
        return tile;
    }
    std::vector<EarlierPlane> earlier() {
        std::vector<EarlierPlane> planes;
        planes.resize(size_t(next()));
        for (EarlierPlane& own : planes) {
            own.shape.planes = 1;
            own.shape.height = next(), own.shape.width = next(), own.shape.depth = next();
            own.tools = lossless();
            own.payload = payload();
        }
        return planes;
    }

private:
    int32_t next() { return *next_++; }

    // The place of a payload among the bytes of the tile, and its size.
    Payload payload() {
        const uint8_t* from = bytes_ + next();
        return {from, size_t(next())};
    }

#define MMP_NEXT_TOOL(name, low, high) next(),
    Tools trees() { return {MMP_TREE_TOOLS(MMP_NEXT_TOOL)}; }
    BlockLayerTools blocks() {
        BlockLayerTools own{{MMP_BLOCK_TOOLS(MMP_NEXT_TOOL) 0}, std::nullopt};
        own.blocks.fragment_log2 = std::countr_zero(uint32_t(own.blocks.fragment_size));
        if (own.blocks.dictionary) own.trees = trees();
        return own;
    }
#undef MMP_NEXT_TOOL
    LosslessTools lossless() {
        const int form = next();
        return {form, next()};
    }

    CodedPalette palette() {
        CodedPalette own{};
        own.tools = lossless();
        own.colours = payload(), own.numbers = payload();
        own.entries = next(), own.transparent = next() != 0;
        return own;
    }

    CodedLayer layer() {
        CodedLayer own;
        const int coding = next();
        if (coding == kLossless)
            own.tools = lossless();
        else if (coding == kBlocks)
            own.tools = blocks();
        else
            own.tools = trees();
        own.payload = payload();
        if (next()) own.post_filter = weights(kFilterClasses * kFilterTaps);
        for (int count = next(); count > 0; --count) {
            own.planes_read.push_back(next());
            const auto more = weights(kPlaneTaps);
            own.plane_weights.insert(own.plane_weights.end(), more.begin(), more.end());
        }
        return own;
    }
    std::vector<int16_t> weights(int count) {
        const int32_t* first = next_;
        next_ += count;
        return {first, next_};
    }

    const int32_t* next_;
    const uint8_t* const bytes_;
};

// Decodes the planes that a tile continues, for what its own plane reads of them.
void decode_earlier(std::vector<EarlierPlane>& planes, LosslessChain& chain) {
    if (chain.most_rows * chain.most_width > kMostChainPixels) throw std::bad_alloc();
    for (EarlierPlane& own : planes) {
        ++earlier_now;
        own.tools.chain = &chain;
        decode_samples(own.payload, own.shape, own.tools, 1, [](int64_t, int64_t) {}, nullptr);
    }
    earlier_now = 0;
}

}  // namespace

// Returns `size` bytes of memory, aligned to 16.
MMP_EXPORT(mmp_take) void* mmp_take(size_t size) {
    return ::operator new(size, std::align_val_t{16});
}

MMP_EXPORT(mmp_free) void mmp_free(void* memory) { free(memory); }

// Decodes a tile from its bytes, after the planes that it continues, and returns the CRC of its
// samples. Those of a pixel lie side by side: uint8_t up to a depth of 8, else uint16_t. `drawn`
// receives which pixels a palette draws; it is null without a palette.
MMP_EXPORT(mmp_tile)
uint32_t mmp_tile(const uint8_t* bytes, const int32_t* numbers, void* samples, bool* drawn) {
    layer_now = earlier_now = 0;
    NumbersOfTile given(numbers, bytes);
    const PictureForm form = given.form();
    CodedTile tile = given.tile();
    std::vector<EarlierPlane> earlier = given.earlier();
    int most_width = tile.width;
    int64_t rows = tile.height;
    for (const EarlierPlane& own : earlier) {
        most_width = std::max(most_width, own.shape.width);
        rows += own.shape.height;
    }
    LosslessChain chain{most_width, rows};
    if (!earlier.empty()) {
        decode_earlier(earlier, chain);
        std::get<LosslessTools>(tile.layers[0].tools).chain = &chain;
    }
    Helpers none;
    const Advance advance = [](int64_t) {};
    TileParts parts(form, tile, false, none, advance);
    if (tile.palette) parts.decode_palette(1, part_now);
    part_now = TilePart::kLayer;
    for (layer_now = 0; layer_now < int(tile.layers.size()); ++layer_now)
        parts.decode_layer_of(layer_now, 1);
    const int64_t planes = form.planes();
    return parts.join({samples, planes * tile.width, planes, 0, 0, tile.height, tile.width, drawn});
}

// Returns the part of a tile in which an error stopped decoding: its number in TilePart; the layers
// have the numbers from kLayer on, and planes that the tile continues -1, -2 and so on.
MMP_EXPORT(mmp_part) int mmp_part() {
    return earlier_now ? -earlier_now : int(part_now) + layer_now;
}
