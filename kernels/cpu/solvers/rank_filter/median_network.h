// Medians of small square windows by networks of comparisons.
#pragma once

#include <stdint.h>

#include "cpu/solvers/rank_filter/bordered_picture.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

// Whether there is a network for the picture's window, and the picture is wide enough for it.
template <class T>
bool has_median_network(const BorderedPicture<T>& picture);

// All pixels count.
template <class T>
void median_filter(const BorderedPicture<T>& picture, T* out, ThreadTeam& team);

}  // namespace mmp
