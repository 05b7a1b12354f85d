#include <algorithm>

#include "cpu/runtime/errors.h"
#include "cpu/tiles/parts.h"

namespace mmp {

namespace {

// A part that earlier planes predict is decoded in a later round than these planes; the parts of a
// round run side by side.
class TileDecoder {
public:
    TileDecoder(const PictureForm& form, const CodedTile& tile, bool recorded, int threads,
                Helpers& helpers, const Advance& advance)
        : form_(form),
          tile_(tile),
          threads_(threads),
          helpers_(helpers),
          parts_(form, tile, recorded, helpers, advance),
          faults_(first_layer() + tile.layers.size()) {}

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
            found.records = parts_.take_records();
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
        TilePart now = TilePart::kLayer;
        const auto fail = [&](bool truncated, const char* section, const std::string& text) {
            faults_[part] = TileFault{truncated, now, layer, section, text};
        };
        try {
            if (layer >= 0)
                parts_.decode_layer_of(layer, threads);
            else
                parts_.decode_palette(threads, now);
        } catch (const TruncatedPayload& error) {
            fail(true, error.section, error.what());
        } catch (const CorruptPayload& error) {
            fail(false, error.section, error.what());
        }
    }

    std::optional<TileFault> join(const TilePlace& place) {
        const uint32_t crc = parts_.join(place);
        if ((crc & tile_.crc_mask) == (tile_.crc & tile_.crc_mask)) return std::nullopt;
        return TileFault{false, TilePart::kChecksum, 0, "", "", crc};
    }

    const PictureForm& form_;
    const CodedTile& tile_;
    const int threads_;
    Helpers& helpers_;
    TileParts parts_;
    std::vector<std::optional<TileFault>> faults_;  // by part
};

}  // namespace

DecodedTile decode_tile(const PictureForm& form, const CodedTile& tile, const TilePlace& place,
                        bool recorded, int threads, Helpers& helpers, const Advance& advance) {
    return TileDecoder(form, tile, recorded, threads, helpers, advance).decode(place);
}

}  // namespace mmp
