// Rank filters: each pixel becomes the value of a given rank in the window around it.
// mmpcodec/solvers/rank_filter defines the results.
#pragma once

#include <stdint.h>

#include "cpu/solvers/rank_filter/bordered_picture.h"

namespace mmp {

// ranks[n], 0 to n - 1, is the rank for windows with n valid values; ranks[0] is not used. `found`,
// unless null, is set to 1 if a window has a valid value; otherwise `found` and `out` are set to 0.
// Returns whether any sample is NaN although all are valid; then the result is undefined.
template <class T>
bool rank_filter(const BorderedPicture<T>& picture, const int32_t* ranks, T* out, uint8_t* found,
                 ThreadTeam& team);

}  // namespace mmp
