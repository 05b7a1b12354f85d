#include "cpu/tiles/parts.h"

#include <algorithm>

#include "cpu/runtime/errors.h"
#include "cpu/tiles/checksum.h"

namespace mmp {

namespace {

int bits_of(int largest) {
    int bits = 1;
    while (largest >> bits) ++bits;
    return bits;
}

}  // namespace

TileParts::TileParts(const PictureForm& form, const CodedTile& tile, bool recorded,
                     Helpers& helpers, const Advance& advance)
    : form_(form),
      tile_(tile),
      helpers_(helpers),
      advance_(advance),
      planes_(tile.layers.size()),
      records_(recorded ? 2 * tile.palette.has_value() + tile.layers.size() : 0) {}

void TileParts::decode_layer_of(int number, int threads) {
    const CodedLayer& layer = tile_.layers[number];
    const int planes = tile_.is_together(form_) ? form_.planes() : 1;
    const std::vector<DecodedPlane> earlier(planes_.begin(), planes_.begin() + layer.earlier());
    const Progress progress = progress_of_part();
    const LayerSetting setting{{tile_.height, tile_.width}, threads, helpers_, progress};
    planes_[number] = decode_layer(layer, planes, tile_.layer_depth(form_, number), earlier,
                                   setting, record(2 * tile_.palette.has_value() + number));
}

void TileParts::decode_palette(int threads, TilePart& now) {
    const CodedPalette& palette = *tile_.palette;
    const int count = form_.colours, entries = palette.entries;
    now = TilePart::kColours;
    const std::vector<uint16_t> planes =
        decode_samples(palette.colours, {count, 1, entries, form_.level_depth},
                       palette.tools, threads, [](int64_t, int64_t) {}, record(0));
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
    palette_.numbers =
        decode_samples(palette.numbers, shape, palette.tools, threads, progress, record(1));
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

uint32_t TileParts::join(const TilePlace& place) {
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
    return crc;
}

// Progress that reports how many more fragments of a part are decoded.
Progress TileParts::progress_of_part() {
    return [this, before = int64_t{0}](int64_t done, int64_t) mutable {
        advance_(done - before);
        before = done;
    };
}

}  // namespace mmp
