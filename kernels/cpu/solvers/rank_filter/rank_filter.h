// Rank filters: they replace each pixel by the value of a given rank in the window around it.
// mmpcodec/solvers/rank_filter defines the results.
#pragma once

#include <stdint.h>

#include "cpu/solvers/rank_filter/bordered_picture.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

// ranks[n], from 0 to n - 1, is the rank among n valid values; ranks[0] is not used. `found`,
// unless null, becomes 1 if a window has a valid value. Otherwise `found` and `out` become 0.
// Returns whether samples are NaN although all are valid; then the result is undefined.
template <class T>
bool rank_filter(const BorderedPicture<T>& picture, const int32_t* ranks, T* out, uint8_t* found,
                 ThreadTeam& team);

}  // namespace mmp
