// Selection from many short lines at once: each lane of a vector holds a line, so one sorting
// network sorts several lines.
#pragma once

#include <stdint.h>

#include "cpu/runtime/thread_team.h"
#include "cpu/solvers/selection/selection.h"

namespace mmp {

// Most values of a line that a network sorts.
constexpr int64_t kLongestLine = 1024;

// select_lines() for lines of at most kLongestLine values.
void select_short_lines(const Lines& lines, const Ranks& ranks, void* keys, int64_t* nans,
                        ThreadTeam& team);

}  // namespace mmp
