// A picture with its border.
#pragma once

#include <stdint.h>

namespace mmp {

struct Window {
    int height, width;  // odd, up to 255
};

// A picture and the values beyond its border. The window of result row y covers the rows row_of[y]
// to row_of[y + height - 1] of the samples; column_of does the same for columns. The first `rows`
// rows and `columns` columns of the samples are the picture.
template <class T>
struct BorderedPicture {
    const T* samples;
    const uint8_t* valid;  // nonzero for valid samples, in the shape of samples; null if all are
    int64_t stride;        // number of columns of the samples
    const int32_t *row_of, *column_of;
    int64_t rows, columns;  // size of the result
    Window window;
};

}  // namespace mmp
