// Decoding of tiles in the Python module mmpcodec._cpu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "cpu/bindings/bindings.h"
#include "cpu/bindings/buffers.h"
#include "cpu/bindings/gil.h"
#include "cpu/tiles/checksum.h"
#include "cpu/tiles/crew.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace mmp {

namespace {

constexpr double kPause = 0.03;            // seconds between two calls of a callback
constexpr double kPauseWithoutOne = 0.1;   // and between two looks for Ctrl-C

// Colours, alpha, depth, bits of a level, first sample: see PictureForm.
using Form = std::tuple<int, bool, int, int, int>;
// First row and column of the part of a tile, its samples, (H, W) or (H, W, C), and an array or
// None for the pixels of the tile that a palette draws.
using Drawn = nb::ndarray<bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Part = std::tuple<int, int, nb::ndarray<nb::device::cpu>, std::optional<Drawn>>;

LosslessTools lossless_tools_from(nb::handle source) {
    const auto number = [&](const char* name) { return nb::cast<int>(source.attr(name)); };
    return {number("lossless_form"), number("max_error")};
}

using Coefficients = std::vector<std::vector<int>>;

CodedLayer layer_from(nb::handle source, Buffers& buffers) {
    CodedLayer layer;
    const nb::object tools = source.attr("tools");
    const auto coding = nb::cast<std::string>(tools.attr("coding"));
    if (coding == "trees") {
        layer.tools = tools_from(tools);
    } else if (coding == "predicted blocks") {
        BlockLayerTools own{block_tools_from(tools), std::nullopt};
        if (own.blocks.dictionary) own.trees = tools_from(tools.attr("trees"));
        layer.tools = own;
    } else {
        layer.tools = lossless_tools_from(tools);
    }
    layer.payload = held(source.attr("payload"), buffers);
    const auto taps = nb::cast<Coefficients>(source.attr("coefficients"));
    for (size_t number = 0; number < taps.size(); ++number) {
        if (taps[number].empty()) continue;
        if (!layer.post_filter) layer.post_filter.emplace(kFilterClasses * kFilterTaps);
        std::copy(taps[number].begin(), taps[number].end(),
                  layer.post_filter->begin() + number * kFilterTaps);
    }
    const auto planes = nb::cast<Coefficients>(source.attr("cross_component_coefficients"));
    for (size_t plane = 0; plane < planes.size(); ++plane) {
        if (planes[plane].empty()) continue;
        layer.planes_read.push_back(int(plane));
        layer.plane_weights.insert(layer.plane_weights.end(), planes[plane].begin(),
                                   planes[plane].end());
    }
    return layer;
}

// Of a mmpcodec.format.layers.TileStream, which its reader has checked.
CodedTile tile_from(nb::handle source, int height, int width, uint32_t crc_mask,
                    Buffers& buffers) {
    CodedTile tile{};
    tile.height = height, tile.width = width;
    tile.layout = Layout(nb::cast<int>(source.attr("layout")));
    const auto rotation = nb::cast<std::vector<int>>(source.attr("rotation"));
    std::copy_n(rotation.begin(), 3, tile.rotation);
    tile.crc = nb::cast<uint32_t>(source.attr("samples_crc")), tile.crc_mask = crc_mask;
    const nb::object palette = source.attr("palette");
    if (!palette.is_none()) {
        const nb::object streams = palette.attr("streams")();
        tile.palette = {lossless_tools_from(palette.attr("tools")),
                        held(streams.attr("colours"), buffers),
                        held(streams.attr("numbers"), buffers),
                        nb::cast<int>(palette.attr("entries")),
                        nb::cast<bool>(palette.attr("transparent"))};
    }
    for (const nb::handle layer : source.attr("layers"))
        tile.layers.push_back(layer_from(layer, buffers));
    return tile;
}

TilePlace place_of(const Part& part, const PictureForm& form, size_t height, size_t width) {
    const auto& [row, column, samples, drawn] = part;
    const size_t dimensions = form.planes() > 1 ? 3 : 2;
    const auto wanted = form.depth <= 8 ? nb::dtype<uint8_t>() : nb::dtype<uint16_t>();
    if (samples.ndim() != dimensions || samples.dtype() != wanted ||
        (dimensions == 3 && (int(samples.shape(2)) != form.planes() || samples.stride(2) != 1)))
        throw std::invalid_argument("samples of another shape or type than the picture");
    if (drawn && (drawn->shape(0) != height || drawn->shape(1) != width))
        throw std::invalid_argument("drawn has another shape than the tile");
    return {samples.data(), samples.stride(0), samples.stride(1), row, column,
            int(samples.shape(0)), int(samples.shape(1)), drawn ? drawn->data() : nullptr};
}

template <class T>
nb::object array_of(const LayerRecord::Table<T>& table) {
    if (table.values.empty()) return nb::none();
    return mmp::array_of(table.values.data(), table.rows, table.columns);
}

// Returns a tuple of the parts of a record, None for those that are empty.
nb::tuple tuple_of(const LayerRecord& record) {
    const auto& units = record.units;
    const nb::object of_units =
        units.values.empty()
            ? nb::none()
            : mmp::array_of(units.values.data(), units.rows, units.columns,
                            units.values.size() / (size_t(units.rows) * units.columns));
    const auto& sizes = record.dictionary_sizes;
    return nb::make_tuple(record.rates, of_units, array_of(record.changes),
                          array_of(record.leaf_scales),
                          sizes.empty() ? nb::none() : mmp::array_of(sizes.data(), sizes.size()),
                          array_of(record.drawn), array_of(record.cells));
}

const char* name_of(TilePart part) {
    switch (part) {
        case TilePart::kColours: return "colours";
        case TilePart::kNumbers: return "numbers";
        case TilePart::kPalette: return "palette";
        case TilePart::kLayer: return "layer";
        case TilePart::kChecksum: break;
    }
    return "checksum";
}

// Returns for each tile a tuple: None and the records of its parts, or the fault and None. A fault
// is a tuple: whether a payload is truncated, part, number of the layer, section, text, and CRC of
// the samples.
nb::list decode(const Form& given, const nb::list& streams, const std::vector<Part>& parts,
                const std::vector<std::tuple<int, int>>& sizes, uint32_t crc_mask, bool recorded,
                int threads, const nb::object& progress) {
    const auto& [colours, has_alpha, depth, level_depth, first] = given;
    const PictureForm form{colours, has_alpha, depth, level_depth, first};
    Buffers buffers;
    std::vector<TileJob> jobs;
    for (size_t number = 0; number < parts.size(); ++number) {
        const auto [height, width] = sizes[number];
        jobs.push_back({tile_from(streams[number], height, width, crc_mask, buffers),
                        place_of(parts[number], form, height, width)});
    }
    const Progress report = progress_from(progress);
    const bool announced = !progress.is_none();
    const std::vector<DecodedTile> decoded = [&] {
        WithoutGil released;
        return decode_tiles(form, jobs, recorded, threads, report, announced,
                            announced ? kPause : kPauseWithoutOne);
    }();
    nb::list found;
    for (const DecodedTile& tile : decoded) {
        if (tile.fault) {
            const TileFault& fault = *tile.fault;
            found.append(nb::make_tuple(
                nb::make_tuple(fault.truncated, name_of(fault.part), fault.layer, fault.section,
                               fault.text, fault.crc),
                nb::none()));
            continue;
        }
        nb::list records;
        for (const LayerRecord& record : tile.records) records.append(tuple_of(record));
        found.append(nb::make_tuple(nb::none(), records));
    }
    return found;
}

}  // namespace

void register_tiles(nb::module_& module) {
    module.def("decode_tiles", &decode, "form"_a, "streams"_a, "parts"_a, "sizes"_a, "crc_mask"_a,
               "recorded"_a, "threads"_a, "progress"_a.none());
    module.def("crc32", [](uint32_t crc, const nb::bytes& data) {
        return crc32(crc, data.data(), data.size());
    }, "crc"_a, "data"_a);
    module.def("joined_crc", &joined_crc, "first"_a, "second"_a, "size"_a);
}

}  // namespace mmp
