#include <algorithm>
#include <numeric>

#include "cpu/runtime/errors.h"
#include "cpu/tiles/checksum.h"
#include "cpu/tiles/colours.h"
#include "cpu/tiles/layer.h"

namespace mmp {

namespace {

// Tools of the stream of the colours: lossless form 0.
constexpr LosslessTools kColourTools{1, 8, 1, false, 0};

int bits_of(int largest) {
    int bits = 1;
    while (largest >> bits) ++bits;
    return bits;
}

// The parts of a tile are its palette, if it has one, and its layers. A part that earlier planes
// predict is decoded in a later round than these planes; the parts of a round run side by side.
class TileDecoder {
public:
    TileDecoder(const PictureForm& form, const CodedTile& tile, bool recorded, int threads,
                Helpers& helpers, const Advance& advance)
        : form_(form),
          tile_(tile),
          threads_(threads),
          helpers_(helpers),
          advance_(advance),
          planes_(tile.layers.size()),
          faults_(first_layer() + tile.layers.size()) {
        if (recorded) records_.resize(faults_.size() + first_layer());
    }

    DecodedTile decode(const TilePlace& place) {
        DecodedTile found;
        run_rounds();
        const auto bad = std::find_if(faults_.begin(), faults_.end(),
                                      [](const auto& fault) { return fault.has_value(); });
        if (bad == faults_.end())
            found.fault = join(place);
        else
            found.fault = std::move(*bad);
        if (found.fault)
            clear(form_, place);
        else
            found.records = std::move(records_);
        return found;
    }

private:
    int first_layer() const { return tile_.palette ? 1 : 0; }

    void run_rounds() {
        std::vector<int> rounds(faults_.size());
        const auto of_layers = rounds.begin() + first_layer();
        for (size_t layer = 0; layer < tile_.layers.size(); ++layer)
            if (const int earlier = tile_.layers[layer].earlier())
                of_layers[layer] = 1 + *std::max_element(of_layers, of_layers + earlier);
        const int last = *std::max_element(rounds.begin(), rounds.end());
        for (int round = 0; round <= last; ++round) {
            std::vector<int> parts;
            for (int part = 0; part < int(rounds.size()); ++part)
                // Only the first error counts, so nothing after it is decoded.
                if (faults_[part])
                    break;
                else if (rounds[part] == round)
                    parts.push_back(part);
            const int each = std::max(threads_ / std::max(int(parts.size()), 1), 1);
            helpers_.run(int(parts.size()), [&](int index) { decode_part(parts[index], each); });
        }
    }

    void decode_part(int part, int threads) {
        const int layer = part - first_layer();
        TilePart now = layer < 0 ? TilePart::kColours : TilePart::kLayer;
        const auto fail = [&](bool truncated, const char* section, const std::string& text) {
            faults_[part] = TileFault{truncated, now, layer, section, text};
        };
        try {
            if (layer >= 0)
                decode_layer_of(layer, threads);
            else
                decode_palette(threads, now);
        } catch (const TruncatedPayload& error) {
            fail(true, error.section, error.what());
        } catch (const CorruptPayload& error) {
            fail(false, error.section, error.what());
        }
    }

    void decode_layer_of(int number, int threads) {
        const CodedLayer& layer = tile_.layers[number];
        const int planes = tile_.is_together(form_) ? form_.planes() : 1;
        const std::vector<DecodedPlane> earlier(planes_.begin(),
                                                planes_.begin() + layer.earlier());
        const Progress progress = progress_of_part();
        const LayerSetting setting{{tile_.height, tile_.width}, threads, helpers_, progress};
        planes_[number] = decode_layer(layer, planes, tile_.layer_depth(form_, number), earlier,
                                       setting, record(2 * first_layer() + number));
    }

    // `now` receives the part that is being decoded.
    void decode_palette(int threads, TilePart& now) {
        const CodedPalette& palette = *tile_.palette;
        const int count = form_.colours, entries = palette.entries;
        const std::vector<uint16_t> planes =
            decode_samples(palette.colours, {count, 1, entries, form_.level_depth}, kColourTools,
                           threads, [](int64_t, int64_t) {}, record(0));
        palette_.colours.resize(planes.size());
        for (int plane = 0; plane < count; ++plane) {
            // Lossless samples have green before red.
            const int colour = count == 3 && plane < 2 ? 1 - plane : plane;
            for (int entry = 0; entry < entries; ++entry)
                palette_.colours[size_t(entry) * count + colour] = planes[plane * entries + entry];
        }
        now = TilePart::kNumbers;
        const Progress progress = progress_of_part();
        const LosslessShape shape{1, tile_.height, tile_.width, bits_of(palette.largest())};
        palette_.numbers = decode_samples(palette.numbers, shape, palette.tools, threads, progress,
                                          record(1));
        now = TilePart::kPalette;
        const auto beyond = std::find_if(palette_.numbers.begin(), palette_.numbers.end(),
                                         [&](int number) { return number > palette.largest(); });
        if (beyond != palette_.numbers.end())
            throw CorruptPayload("number of a pixel is " + std::to_string(*beyond) +
                                     ", allowed is 0 to " + std::to_string(palette.largest()),
                                 "Palette");
        if (LayerRecord* own = record(1)) {
            own->drawn = {tile_.height, tile_.width, {}};
            for (const uint16_t number : palette_.numbers)
                own->drawn.values.push_back(number < entries);
        }
    }

    // Joins the samples in bands of rows; compares their checksum.
    std::optional<TileFault> join(const TilePlace& place) {
        TilePlanes planes{{}, tile_.palette ? &palette_ : nullptr};
        for (const DecodedPlane& plane : planes_) planes.layers.push_back(plane.samples);
        if (tile_.is_together(form_) && !planes_.empty()) {
            const auto* all = static_cast<const uint16_t*>(planes_[0].samples);
            planes.layers.clear();
            for (int plane = 0; plane < form_.planes(); ++plane)
                planes.layers.push_back(all + size_t(plane) * tile_.height * tile_.width);
        }
        std::vector<uint32_t> of_rows(tile_.height);  // by the last row of a band
        std::vector<int64_t> sizes(tile_.height);
        in_bands(tile_.height, bands_of(tile_.height, helpers_), helpers_, [&](RowRange rows) {
            of_rows[rows.last - 1] = join_rows(form_, tile_, planes, place, rows);
            sizes[rows.last - 1] = rows.last - rows.first;
        });
        const uint64_t row_bytes =
            uint64_t(tile_.width) * form_.planes() * (form_.level_depth <= 8 ? 1 : 2);
        uint32_t crc = 0;
        for (int row = 0; row < tile_.height; ++row)
            if (sizes[row]) crc = joined_crc(crc, of_rows[row], sizes[row] * row_bytes);
        if (place.drawn && tile_.palette)
            std::transform(palette_.numbers.begin(), palette_.numbers.end(), place.drawn,
                           [&](int number) { return number < tile_.palette->entries; });
        if ((crc & tile_.crc_mask) == (tile_.crc & tile_.crc_mask)) return std::nullopt;
        return TileFault{false, TilePart::kChecksum, 0, "", "", crc};
    }

    // Progress that reports how many more fragments of a part are decoded.
    Progress progress_of_part() {
        return [this, before = int64_t{0}](int64_t done, int64_t) mutable {
            advance_(done - before);
            before = done;
        };
    }

    LayerRecord* record(size_t number) { return records_.empty() ? nullptr : &records_[number]; }

    const PictureForm& form_;
    const CodedTile& tile_;
    const int threads_;
    Helpers& helpers_;
    const Advance& advance_;
    std::vector<DecodedPlane> planes_;
    PaletteSamples palette_;
    std::vector<std::optional<TileFault>> faults_;  // by part
    std::vector<LayerRecord> records_;
};

}  // namespace

DecodedTile decode_tile(const PictureForm& form, const CodedTile& tile, const TilePlace& place,
                        bool recorded, int threads, Helpers& helpers, const Advance& advance) {
    return TileDecoder(form, tile, recorded, threads, helpers, advance).decode(place);
}

}  // namespace mmp
