// Decoding of the parts of a tile: its palette and its layers.
#pragma once

#include <vector>

#include "cpu/tiles/colours.h"
#include "cpu/tiles/layer.h"

namespace mmp {

class TileParts {
public:
    TileParts(const PictureForm& form, const CodedTile& tile, bool recorded, Helpers& helpers,
              const Advance& advance);

    // Both throw TruncatedPayload or CorruptPayload; `now` receives the part that is being decoded.
    void decode_palette(int threads, TilePart& now);
    // The earlier layers that predict this one are decoded.
    void decode_layer_of(int number, int threads);

    // Joins the samples of the decoded parts in bands of rows, and returns their CRC.
    uint32_t join(const TilePlace& place);

    std::vector<LayerRecord> take_records() { return std::move(records_); }

private:
    Progress progress_of_part();
    LayerRecord* record(size_t number) { return records_.empty() ? nullptr : &records_[number]; }

    const PictureForm& form_;
    const CodedTile& tile_;
    Helpers& helpers_;
    const Advance& advance_;
    std::vector<DecodedPlane> planes_;
    PaletteSamples palette_;
    std::vector<LayerRecord> records_;  // two of the palette, if there is one, then the layers
};

}  // namespace mmp
