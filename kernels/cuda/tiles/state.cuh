// A tile whose planes a device joins: what the host gives.
//
// mmpcodec/backends/cuda/decoding/state.py defines the same layout; a test compares the sizes.
#pragma once

#include "shared/integers.h"

namespace mmp {

constexpr int kMostSamples = 4;  // of a pixel

struct JoinedTile {
    const void* planes[kMostSamples];
    void* out;            // of the first pixel that is shown
    uint32_t* crc_rows;   // (height): the CRC-32 of each row of coded levels
    uint32_t* crc;
    int64_t row_stride, pixel_stride;  // of `out`, in samples
    int32_t height, width, stride;     // of the planes
    int32_t row, column, rows, columns;  // the part that is shown
    int32_t layout, colours, has_alpha;
    int32_t depth;           // of the picture's samples: decides their type
    int32_t level_depth;     // of a coded level
    int32_t plane_depth;     // of a sample of the planes of colour
    int32_t first;           // sample that level 0 stands for
    int32_t matrix[3][3];    // of fine luma, in 1/2^18
};

}  // namespace mmp
