// The 0-1 knapsack with one constraint, for any optimal choice.
//
// First, items are fixed around the break item (items.h), then short lists of states (lists.h) and
// a surrogate relaxation (surrogate.h) follow. After that, lists alternate with bounds and choices
// by the number of items (counting.h), with growing limits, until the best value equals the bound.
#pragma once

#include <stdint.h>

#include <chrono>

namespace mmp {

struct SolveLimits {
    int64_t list;           // limit of states per list
    int64_t stored;         // limit of states in the log of the lists
    int64_t table_states;   // limit of states of a table that fits into memory
    int64_t least_work;     // least number of list states before a table is used
    int64_t cells_a_state;  // table cells computed in the time of one list state
    bool hands_over;        // whether proportional items end with kProportional
    std::chrono::steady_clock::time_point deadline;
};

// How the search ended: at a limit, after item fixing, by lists, by a choice that equals a bound,
// or handed over.
enum class SolveOutcome : uint8_t { kLimit, kSettled, kLists, kBound, kProportional };

// Solves an instance of `count` items; profits may have any sign, weights are at least 0. `value`
// receives the profit of the choice in `take`, and `bound` an upper bound; they are equal except
// for kLimit and kProportional. kProportional means that all open items have equal profit per
// weight (a subset-sum problem) and that short lists do not suffice.
SolveOutcome knapsack_solve(const int64_t* profits, const int64_t* weights, int64_t count,
                            int64_t capacity, const SolveLimits& limits, int64_t& value,
                            int64_t& bound, uint8_t* take);

}  // namespace mmp
