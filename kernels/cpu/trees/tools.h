// The normative coding tools, as the header of a file names them.
#pragma once

#include <stdint.h>

namespace mmp {

struct Tools {
    int partition = 0;
    bool index_classes = true;
    bool flag_contexts = true;
    int copy_radius = 4;
    uint32_t dictionary_limit = 16384;
    int displaced_blocks = 0;
    int redundancy_radius = 0;
    bool replacement = false;
};

}  // namespace mmp
