// Dynamic programming with bounds over lists of states, for the 0-1 knapsack with one constraint.
//
// A list holds the undominated states of a core of items around the break item, sorted by weight.
// Items outside the core are as in the break solution. States whose bound is too low are dropped. A
// first pass finds the best value. A second pass also keeps states that tie with it, and so finds
// the first-ranked optimal choice; mmpcodec/solvers/knapsack defines the order. Source: D.
// Pisinger, "A minimal algorithm for the 0-1 knapsack problem", Operations Research 1997.
#pragma once

#include <stdint.h>

#include <chrono>

namespace mmp {

// What is proven: nothing; that the value is optimal; or also that the choice ranks first.
enum class CoreOutcome : uint8_t { kNothing, kValue, kChoice };

struct CoreLimits {
    int64_t list;    // limit of states per list
    int64_t stored;  // limit of states in all lists of the second pass
    int64_t work;    // limit of states made per pass
    std::chrono::steady_clock::time_point deadline;
};

// Solves an instance of `count` items with positive profits and weights. Each weight is at most the
// capacity; the sum of the weights exceeds it. The items are in the order of stages: the break
// item, then alternately the next item before it and the next item after it. `value` is the best
// known profit. `take` receives the first-ranked optimal choice if the outcome is kChoice, else a
// feasible choice of profit `value` or less.
CoreOutcome knapsack_core(const int64_t* profits, const int64_t* weights, int64_t count,
                          int64_t capacity, const CoreLimits& limits, int64_t& value,
                          uint8_t* take);

}  // namespace mmp
