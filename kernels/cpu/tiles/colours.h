// The samples of a tile from the planes of its layers and its palette. Source: sections "Colours"
// and "Palette" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/tiles/tile.h"

namespace mmp {

// A palette that is decoded.
struct PaletteSamples {
    std::vector<uint16_t> colours;  // of each entry, one after the other
    std::vector<uint16_t> numbers;  // of the pixels, rows from the top
};

// The decoded planes of a tile, without padding.
struct TilePlanes {
    // Of the layers: uint8_t up to a depth of 8, else uint16_t. If a layer has all planes, these
    // are the planes of lossless samples, in their order, uint16_t.
    std::vector<const void*> layers;
    const PaletteSamples* palette;  // null without a palette
};

// Writes the samples of some rows to their place, and returns the CRC of these rows.
uint32_t join_rows(const PictureForm& form, const CodedTile& tile, const TilePlanes& planes,
                   const TilePlace& place, RowRange rows);

// Writes zeros to the place of a tile.
void clear(const PictureForm& form, const TilePlace& place);

}  // namespace mmp
