// The filter of a plane by earlier planes, and the sums from which its coefficients are fitted.
#pragma once

#include "cpu/filters/base.h"
#include "shared/filters/cross_component.h"

namespace mmp {

// Most terms of the fit: the taps of all planes, then the error.
constexpr int kMostPlaneTerms = kMostPlanesRead * kPlaneTaps + 1;

// The planes that the filter reads, all of the size of the filtered one.
template <class Sample>
struct FilterPlanes {
    const Sample* samples[kMostPlanesRead];
    int count;
};

// Writes the filtered samples of these rows to their places in `out`, which has all rows, and can be
// the picture if they are all rows. The weights, in 1/128, are by plane and tap.
template <class Sample>
void cross_component_filter(const FilterPicture<Sample>& picture, const FilterPlanes<Sample>& planes,
                   const int16_t* weights, RowRange range, Sample* out);

// Adds the products of each two of a sample's tap differences and its difference between source and
// picture, as a square matrix. The sums of 2^28 samples fit.
template <class Sample>
void add_planes_gram(const Sample* source, const FilterPicture<Sample>& picture,
                     const FilterPlanes<Sample>& planes, RowRange range, int64_t* gram);

}  // namespace mmp
