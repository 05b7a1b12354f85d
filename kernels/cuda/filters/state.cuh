// A plane that a device filters: what the host gives.
//
// mmpcodec/backends/cuda/decoding/state.py defines the same layout; a test compares the sizes.
#pragma once

#include "shared/filters/cross_component.h"
#include "shared/filters/post.h"

namespace mmp {

struct FilteredPlane {
    const void* samples;
    void* out;
    const void* earlier[kMostPlanesRead];  // of the cross-component filter
    const int8_t* changes;                 // step changes of the fragments; null if there are none
    const uint8_t* filters;                // the trained table of the fixed filters
    int32_t height, width, stride, depth;
    int32_t step, fragment_log2, scales;   // of the fixed filters
    int32_t planes_read;
    int16_t post[kFilterClasses][kFilterTaps];
    int16_t cross_component[kMostPlanesRead][kPlaneTaps];
};

}  // namespace mmp
