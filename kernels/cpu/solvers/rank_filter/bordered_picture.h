// A picture with a padded border.
#pragma once

#include <stdint.h>

namespace mmp {

struct Window {
    int height, width;  // odd, up to 255
};

// A picture and its padding. The window of result row y covers rows row_of[y] to row_of[y + height
// - 1] of the samples; columns work the same way with column_of. The first `rows` rows and
// `columns` columns of the samples are the picture; more of them are border values.
template <class T>
struct BorderedPicture {
    const T* samples;
    const uint8_t* valid;  // nonzero for valid samples, in the shape of samples; null: all valid
    int64_t stride;        // columns of the samples
    const int32_t *row_of, *column_of;
    int64_t rows, columns;  // size of the result
    Window window;
};

}  // namespace mmp
