// The filters of the format, as functions that mmpcodec/web/mmp.wasm exports; see decoders.cpp.
#include <algorithm>

#include "cpu/filters/cross_component.h"
#include "cpu/filters/fixed.h"
#include "cpu/filters/post.h"
#include "web/export.h"

namespace {

using namespace mmp;

template <class Sample>
FilterPicture<Sample> picture(const void* samples, int height, int width, int depth) {
    return {static_cast<const Sample*>(samples), height, width, Depth<Sample>(depth)};
}

template <class Sample>
void by_planes(const void* samples, int height, int width, int depth, const void* const* planes,
               int count, const int16_t* weights, void* out) {
    FilterPlanes<Sample> read{{}, count};
    for (int i = 0; i < count; ++i) read.samples[i] = static_cast<const Sample*>(planes[i]);
    cross_component_filter(picture<Sample>(samples, height, width, depth), read, weights, {0, height},
                  static_cast<Sample*>(out));
}

}  // namespace

// `numbers` has for each fragment the number of its step among `steps`; `size` is a fragment's
// side.
MMP_EXPORT(mmp_fixed_filters)
void mmp_fixed_filters(const void* samples, int height, int width, int depth, int size,
                     const uint8_t* numbers, const int32_t* steps, int count, const int32_t* scales,
                     void* out) {
    const PlaneSteps own{size, (width + size - 1) / size, numbers, {steps, steps + count}};
    BankScaling scaling;
    std::copy_n(scales, kBankActivities, scaling.begin());
    if (depth == 8)
        fixed_filters(picture<uint8_t>(samples, height, width, depth), own, scaling, {0, height},
                    static_cast<uint8_t*>(out));
    else
        fixed_filters(picture<uint16_t>(samples, height, width, depth), own, scaling, {0, height},
                    static_cast<uint16_t*>(out));
}

// `table` has the weights by class and tap, all 0 for a class that is not filtered.
MMP_EXPORT(mmp_post_filter)
void mmp_post_filter(const void* samples, int height, int width, int depth, const int16_t* table,
                     void* out) {
    const auto& own = *reinterpret_cast<const FilterTable*>(table);
    if (depth == 8)
        post_filter(picture<uint8_t>(samples, height, width, depth), own, {0, height},
                    static_cast<uint8_t*>(out));
    else
        post_filter(picture<uint16_t>(samples, height, width, depth), own, {0, height},
                    static_cast<uint16_t*>(out));
}

// Only the planes that the filter reads are given, with the weights of each.
MMP_EXPORT(mmp_cross_component_filter)
void mmp_cross_component_filter(const void* samples, int height, int width, int depth,
                       const void* const* planes, int count, const int16_t* weights, void* out) {
    if (depth == 8)
        by_planes<uint8_t>(samples, height, width, depth, planes, count, weights, out);
    else
        by_planes<uint16_t>(samples, height, width, depth, planes, count, weights, out);
}
