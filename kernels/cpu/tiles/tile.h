// The coded form of a tile, where its samples go, and what its decoding leaves behind.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cpu/filters/cross_component.h"
#include "cpu/filters/fixed.h"
#include "cpu/filters/post.h"
#include "cpu/lossless/codec.h"
#include "shared/tools.h"

namespace mmp {

// How the planes of a tile are distributed over layers; the numbers are those of the format.
enum class Layout { kTogether, kApart, kLuma, kFineLuma };

constexpr int kFineBits = 2;  // bits that the layers of fine luma have more
constexpr int kMostSamples = 4;  // of a pixel

// What all tiles of a picture share.
struct PictureForm {
    int colours;  // 1 or 3
    bool has_alpha;
    int depth;        // bits of a sample
    int level_depth;  // bits of a coded level
    int first;        // sample that level 0 stands for

    int planes() const { return colours + has_alpha; }
    int coded_depth() const { return level_depth < 8 ? 8 : level_depth; }
};

struct Payload {
    const uint8_t* data;
    size_t size;
};

struct BlockLayerTools {
    BlockTools blocks;
    std::optional<Tools> trees;
};

// The coded form of one plane, or of all planes together.
struct CodedLayer {
    std::variant<Tools, BlockLayerTools, LosslessTools> tools;
    Payload payload;
    std::optional<std::vector<int16_t>> post_filter;  // a FilterTable; none without the filter
    // The earlier planes that the cross-component filter reads, and their weights, one plane after
    // the other.
    std::vector<int> planes_read;
    std::vector<int16_t> plane_weights;

    bool is_lossless() const { return std::holds_alternative<LosslessTools>(tools); }
    // Number of earlier planes that predict this one.
    int earlier() const {
        const auto* own = std::get_if<BlockLayerTools>(&tools);
        return own ? own->blocks.cross_component : 0;
    }
};

struct CodedPalette {
    LosslessTools tools;  // of the stream of the numbers
    Payload colours, numbers;
    int entries;
    bool transparent;  // whether pixels can have the number `entries` and show the layers below

    int largest() const { return entries - 1 + transparent; }
};

struct CodedTile {
    int height, width;
    Layout layout;
    int rotation[3];
    std::optional<CodedPalette> palette;
    std::vector<CodedLayer> layers;
    uint32_t crc, crc_mask;  // of the samples, and the bits of it that the file has

    bool is_together(const PictureForm& form) const {
        return layout == Layout::kTogether && form.planes() > 1;
    }
    int layer_depth(const PictureForm& form, size_t layer) const {
        if (layers[layer].is_lossless() && layout == Layout::kTogether) return form.level_depth;
        const bool is_alpha = form.has_alpha && layer + 1 == layers.size();
        return form.coded_depth() + (layout == Layout::kFineLuma && !is_alpha ? kFineBits : 0);
    }
    int64_t fragments() const { return int64_t{cells_along(height)} * cells_along(width); }
    // Fragments of the palette and of all layers, the unit of progress.
    int64_t work(const PictureForm& form) const {
        const int planes = layout == Layout::kTogether ? form.planes() : 1;
        return fragments() * (int64_t(layers.size()) * planes + palette.has_value());
    }
};

// Where the samples of a part of a tile go. Those of a pixel lie side by side: uint8_t up to a
// depth of 8, else uint16_t.
struct TilePlace {
    void* samples;
    int64_t row_stride, pixel_stride;  // in samples
    int row, column, height, width;    // the part, within the tile
    bool* drawn = nullptr;  // if not null, receives which pixels of the whole tile a palette draws
};

// What coding leaves behind of a layer or a palette, for statistics and drawings; see Trace in
// mmpcodec/trace.py. Parts that a coding lacks are empty.
struct LayerRecord {
    template <class T>
    struct Table {
        int rows = 0, columns = 0;
        std::vector<T> values;
    };

    std::vector<int64_t> rates;  // of the syntax elements of the coding, in 2^-12 bit
    Table<uint8_t> units;        // each has four numbers
    Table<int8_t> changes, leaf_scales;
    std::vector<int64_t> dictionary_sizes;
    Table<uint8_t> drawn;
    Table<int64_t> cells;
};

// The part of a tile in which an error lies.
enum class TilePart { kColours, kNumbers, kPalette, kLayer, kChecksum };

// The first error of a tile, in the order of the parts of the file.
struct TileFault {
    bool truncated;
    TilePart part;
    int layer;  // number of the layer
    std::string section, text;
    uint32_t crc = 0;  // of the decoded samples, if the checksum differs
};

struct DecodedTile {
    std::optional<TileFault> fault;
    // Of the colours and the numbers of a palette, then of the layers; empty if not asked for.
    std::vector<LayerRecord> records;
};

// Runs tasks; this base has one thread.
class Helpers {
public:
    virtual ~Helpers() = default;
    // Number of threads that would take part now, with the calling one.
    virtual int ready() { return 1; }
    // Calls work(0) to work(tasks - 1), once each, and returns when all have ended. If tasks throw,
    // an exception of one is rethrown.
    virtual void run(int tasks, const std::function<void(int)>& work) {
        for (int task = 0; task < tasks; ++task) work(task);
    }
};

// Takes the number of fragments that were decoded since the call before. It may throw to cancel.
using Advance = std::function<void(int64_t fragments)>;

// Decodes a tile into its place, compares the checksum, and clears the place of a damaged tile.
// `threads` are those of each layer that has use for threads of its own.
DecodedTile decode_tile(const PictureForm& form, const CodedTile& tile, const TilePlace& place,
                        bool recorded, int threads, Helpers& helpers, const Advance& advance);

}  // namespace mmp
