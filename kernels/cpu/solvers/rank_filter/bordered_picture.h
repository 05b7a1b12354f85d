// A picture with its border, as windows read it.
#pragma once

#include <stdint.h>

namespace mmp {

struct Window {
    int height, width;  // odd, up to 255
};

// A picture and what lies beyond its border: row y of the windows, counted from half a window above
// the first row of the result, is row row_of[y] of the samples, and so are the columns. The rows
// and columns of the result are the first ones of the samples.
template <class T>
struct BorderedPicture {
    const T* samples;
    const uint8_t* valid;  // of the same shape, nonzero counts; null where all count
    int64_t stride;        // columns of the samples
    const int32_t *row_of, *column_of;
    int64_t rows, columns;  // of the result
    Window window;
};

}  // namespace mmp
