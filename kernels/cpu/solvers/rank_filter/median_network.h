// Medians of small square windows by comparison networks.
#pragma once

#include <stdint.h>

#include "cpu/solvers/rank_filter/bordered_picture.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

// Replaces each pixel by the median of its window, which is 3x3 or 5x5; `picture.valid` is ignored.
// Returns whether samples are NaN; then the result is undefined.
template <class T>
bool median_filter(const BorderedPicture<T>& picture, T* out, ThreadTeam& team);

}  // namespace mmp
