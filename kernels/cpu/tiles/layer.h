// Decoding and filtering of one layer of a tile.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "cpu/runtime/progress.h"
#include "cpu/tiles/tile.h"
#include "cpu/trees/picture.h"

namespace mmp {

// Decoded samples, rows from the top, without padding: uint8_t up to a depth of 8, else uint16_t.
// If a layer has all planes, these are the planes of lossless samples, uint16_t.
struct DecodedPlane {
    std::shared_ptr<const void> owner;
    const void* samples = nullptr;
};

// What the layers of a tile share.
struct LayerSetting {
    Plane plane;
    int threads;
    Helpers& helpers;
    const Progress& progress;
};

// Number of bands of rows of a plane for all threads that are ready.
inline int64_t bands_of(int64_t height, Helpers& helpers) {
    constexpr int64_t kLeastRows = 32;
    return std::clamp<int64_t>(helpers.ready(), 1, std::max<int64_t>(height / kLeastRows, 1));
}

// Calls work(rows) for bands of rows that cover a plane. Bands begin where blocks of 16 rows do.
template <class Work>
void in_bands(int64_t height, int64_t bands, Helpers& helpers, const Work& work) {
    constexpr int64_t kBlockRows = 16;
    if (bands == 1) return work(RowRange{0, height});
    const auto start = [&](int64_t band) {
        return band == bands ? height : height * band / bands / kBlockRows * kBlockRows;
    };
    helpers.run(int(bands), [&](int band) { work(RowRange{start(band), start(band + 1)}); });
}

// Decodes and filters a layer. Throws TruncatedPayload or CorruptPayload. `earlier` are the planes
// before it, of the same depth; `record` may be null.
DecodedPlane decode_layer(const CodedLayer& layer, int planes, int depth,
                          const std::vector<DecodedPlane>& earlier, const LayerSetting& setting,
                          LayerRecord* record);

// Decodes planes of lossless samples; `record` may be null.
std::vector<uint16_t> decode_samples(const Payload& payload, const LosslessShape& shape,
                                     const LosslessTools& tools, int threads,
                                     const Progress& progress, LayerRecord* record);

}  // namespace mmp
