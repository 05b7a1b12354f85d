// The 0-1 knapsack of one constraint: the best value and the choice that the search finds.
//
// Items are settled around the break item (items.h). Short lists of states (lists.h) come first,
// then a surrogate relaxation (surrogate.h). Then lists, and choices and bounds by the number of
// items (counting.h), take turns, with growing limits, until the best value meets the bound.
#pragma once

#include <stdint.h>

#include <chrono>

namespace mmp {

struct SolveLimits {
    int64_t list;           // most states of a list
    int64_t stored;         // most states in the log of the lists
    int64_t table_states;   // most states of a table that fits into memory
    int64_t least_work;     // states that lists make at least before a table replaces them
    int64_t cells_a_state;  // cells of a table that are filled in the time of one state
    bool hands_over;        // whether proportional items may end the search with kProportional
    std::chrono::steady_clock::time_point deadline;
};

// How the search ended: by a limit, by settling items, by lists, or by a choice that met a bound.
enum class SolveOutcome : uint8_t { kLimit, kSettled, kLists, kBound, kProportional };

// Solves an instance of `count` items of any profit and of weights from 0 up. `value` gets the
// profit of the choice in `take`, and `bound` an upper bound; they are equal but for kLimit and
// kProportional. The latter means that all open profits are one multiple of the weights and that
// short lists do not suffice.
SolveOutcome knapsack_solve(const int64_t* profits, const int64_t* weights, int64_t count,
                            int64_t capacity, const SolveLimits& limits, int64_t& value,
                            int64_t& bound, uint8_t* take);

}  // namespace mmp
