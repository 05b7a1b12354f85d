// The border filter: smooths the steps between the tiles of a picture.
#pragma once

#include <stdint.h>

#include "shared/filters/border.h"

namespace mmp {

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
