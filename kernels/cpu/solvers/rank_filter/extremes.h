// Minimum and maximum filters.
#pragma once

#include "cpu/solvers/rank_filter/bordered_picture.h"

namespace mmp {

// Replaces each pixel by the least or greatest value of its window. Ignores `picture.valid`.
// Returns whether any sample is NaN; then the result is undefined.
template <class T>
bool extreme_filter(const BorderedPicture<T>& picture, bool greatest, T* out, ThreadTeam& team);

}  // namespace mmp
