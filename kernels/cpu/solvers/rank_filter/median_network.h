// Medians of small square windows by comparison networks.
#pragma once

#include <stdint.h>

#include "cpu/solvers/rank_filter/bordered_picture.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

// Returns whether there is a network for the picture's window, and each row fills a vector.
template <class T>
bool has_median_network(const BorderedPicture<T>& picture);

// Replaces each pixel by the median of its window; `picture.valid` is ignored.
template <class T>
void median_filter(const BorderedPicture<T>& picture, T* out, ThreadTeam& team);

}  // namespace mmp
