// All maximal intervals of a sequence of any number type, without copying the values.
#pragma once

#include <stdint.h>

#include <memory>

#include "cpu/runtime/thread_team.h"

namespace mmp {

// Three rows of `count` numbers: starts, stops and sums, from left to right.
struct Intervals {
    int64_t count;
    std::unique_ptr<int64_t[]> numbers;
};

// Returns all maximal intervals as defined by Ruzzo and Tompa. The sum of the magnitudes must be
// below 2^63. Floating-point numbers are multiplied by `scale`, a power of two, and rounded to
// integers, half to even; integers are taken as they are.
//
// Pieces of `piece` values, at most 2^30, are searched in parallel, then merged in order. The
// result does not depend on the size of the pieces.
//
// Source: W. L. Ruzzo and M. Tompa, "A linear time algorithm for finding all maximal scoring
// subsequences", ISMB 1999. The parallel version by pieces is ours.
template <class Value>
Intervals maximal_intervals(const Value* values, int64_t count, double scale, int64_t piece,
                            ThreadTeam& team);

}  // namespace mmp
