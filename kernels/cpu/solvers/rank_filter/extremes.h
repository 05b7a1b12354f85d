// Minimum and maximum filters.
#pragma once

#include "cpu/solvers/rank_filter/bordered_picture.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

// Replaces each pixel by the least or the greatest value in its window. `picture.valid` is ignored.
// Returns whether samples are NaN; then the result is undefined.
template <class T>
bool extreme_filter(const BorderedPicture<T>& picture, bool greatest, T* out, ThreadTeam& team);

}  // namespace mmp
