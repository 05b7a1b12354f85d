// Selection from many short lines at once. A vector holds one value of each of several lines, so
// one sorting network sorts all of them.
#pragma once

#include <stdint.h>

#include "cpu/runtime/thread_team.h"
#include "cpu/solvers/selection/selection.h"

namespace mmp {

// Largest number of values of a line that networks sort.
constexpr int64_t kLongestLine = 1024;

// Selects from each line as `select_rows` does; ranks need not ascend. The array has at most
// kLongestLine values a line.
void select_short_lines(const Lines& lines, const Ranks& ranks, void* keys, int64_t* nans,
                        ThreadTeam& team);

}  // namespace mmp
