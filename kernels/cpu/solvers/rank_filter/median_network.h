// Medians of small square windows by comparison networks.
#pragma once

#include <stdint.h>

#include "cpu/solvers/rank_filter/bordered_picture.h"

namespace mmp {

// Replaces each pixel by the median of its 3x3 or 5x5 window. Ignores `picture.valid`. Returns
// whether any sample is NaN; then the result is undefined.
template <class T>
bool median_filter(const BorderedPicture<T>& picture, T* out, ThreadTeam& team);

}  // namespace mmp
