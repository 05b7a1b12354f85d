// Rank filters with windows of any shape.
#pragma once

#include <stdint.h>

#include "cpu/solvers/rank_filter/bordered_picture.h"

namespace mmp {

// cells[i][j], in the window's height and width, is nonzero if the window contains the cell.
// rank_filter() describes `ranks`, `found` and the return value.
template <class T>
bool shape_filter(const BorderedPicture<T>& picture, const uint8_t* cells, const int32_t* ranks,
                  T* out, uint8_t* found, ThreadTeam& team);

}  // namespace mmp
