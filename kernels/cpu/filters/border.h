// The border filter: smooths the steps between the tiles of a picture.
#pragma once

#include <stdint.h>

namespace mmp {

// Samples of a line on each side of a border.
constexpr int kBorderReach = 8;

// An area of a picture, the planes of a pixel together.
template <class Sample>
struct BorderPicture {
    Sample* samples;
    int64_t height, width;
    int planes, colours;   // the first `colours` planes, 1 or 3, are filtered
    const uint8_t* fixed;  // not 0 for each pixel that keeps its samples; null if there is none
};

// Where the borders are: before each column `left` + k `size` and each row `top` + k `size`.
struct BorderGrid {
    int64_t size, left, top;
};

// Filters in place. `step` is the border step, `first` the sample of the coded level 0, and
// `depth` the bits of a coded level.
template <class Sample>
void border_filter(const BorderPicture<Sample>& picture, const BorderGrid& grid, int step,
                   int depth, int first);

}  // namespace mmp
