// All maximal intervals of a sequence of any type, without a copy of the values.
#pragma once

#include <stdint.h>

#include <memory>

#include "cpu/runtime/thread_team.h"

namespace mmp {

// Three rows of `count` numbers: the starts, the stops and the sums, from left to right.
struct Intervals {
    int64_t count;
    std::unique_ptr<int64_t[]> numbers;
};

// Returns all maximal intervals in the sense of Ruzzo and Tompa. The sum of the magnitudes is below
// 2^63. Floating-point numbers are multiplied by `scale`, a power of two, and rounded to an integer,
// a half to the even one; integers are taken as they are.
//
// Each piece of `piece` values, at most 2^30, is searched on its own, by any thread. The pieces are
// joined in order. The answer does not depend on the size of the pieces.
//
// Source: W. L. Ruzzo and M. Tompa, "A linear time algorithm for finding all maximal scoring
// subsequences", ISMB 1999. The pieces and how they are joined are ours.
template <class Value>
Intervals maximal_intervals(const Value* values, int64_t count, double scale, int64_t piece,
                            ThreadTeam& team);

}  // namespace mmp
