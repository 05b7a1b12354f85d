// Rank filters: of the values in a window around each pixel, the one of a given rank.
// mmpcodec/solvers/rank_filter holds the definitions.
#pragma once

#include <stdint.h>

#include "cpu/solvers/rank_filter/bordered_picture.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

// ranks[n], from 0 to n - 1, is the rank to take among n valid values; ranks[0] is not used. Where
// a window has none, `out` is 0. `found`, unless null, tells where there is any.
template <class T>
void rank_filter(const BorderedPicture<T>& picture, const int32_t* ranks, T* out, uint8_t* found,
                 ThreadTeam& team);

}  // namespace mmp
