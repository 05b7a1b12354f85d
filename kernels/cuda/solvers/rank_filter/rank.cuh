// Declarations that the kernels of rank filters share.
#pragma once

namespace mmp {

struct Shape {
    int rows, columns;  // of the result
    int pitch;          // of the samples
    int height, width;  // of the window
};

}  // namespace mmp
