// Decoding of tiles by a crew of threads.
#pragma once

#include <vector>

#include "cpu/runtime/progress.h"
#include "cpu/tiles/tile.h"

namespace mmp {

struct TileJob {
    CodedTile tile;
    TilePlace place;
};

// Decodes tiles, those of most bytes first. Threads without a tile help the others with planes,
// rows of filters and colours. `report` is called from this thread only, at the start, at the end
// and about every `pause` seconds between; without `announced`, only between. An exception that it
// throws ends the decoding.
std::vector<DecodedTile> decode_tiles(const PictureForm& form, const std::vector<TileJob>& jobs,
                                      bool recorded, int threads, const Progress& report,
                                      bool announced, double pause);

}  // namespace mmp
