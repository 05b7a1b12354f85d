// Declarations that the kernels of rank filters share.
#pragma once

namespace mmp {

struct Shape {
    int rows, columns;  // size of the result
    int pitch;          // columns of the samples
    int height, width;  // size of the window
};

}  // namespace mmp
