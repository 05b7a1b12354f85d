// Branch and bound for the 0-1 knapsack of one constraint, over lists of states.
//
// A list holds the undominated states of a core of items around the break item, by weight. Items
// outside the core are as in the break solution. States whose bound is too low are dropped. A first
// pass finds the best value. A second pass also keeps states that tie with it, and so finds the
// best choice that ranks first; mmpcodec/solvers/knapsack defines the order. Source: D. Pisinger,
// "A minimal algorithm for the 0-1 knapsack problem", Operations Research 1997.
#pragma once

#include <stdint.h>

#include <chrono>

namespace mmp {

// What is proven: nothing, that the value is the best, or also that the choice ranks first.
enum class CoreOutcome : uint8_t { kNothing, kValue, kChoice };

struct CoreLimits {
    int64_t list;    // most states of a list
    int64_t stored;  // most states of all lists of the second pass
    int64_t work;    // most states made in a pass
    std::chrono::steady_clock::time_point deadline;
};

// Solves an instance of `count` items with positive profits and weights. Each weight is at most the
// capacity; the sum of the weights is above it. The items come in the order of stages: the break
// item, then in turn the next item before it and the next item after it. `value` is the best known
// profit. `take` gets the best choice that ranks first if the outcome is kChoice, and else a
// feasible choice of profit `value` or less.
CoreOutcome knapsack_core(const int64_t* profits, const int64_t* weights, int64_t count,
                          int64_t capacity, const CoreLimits& limits, int64_t& value,
                          uint8_t* take);

}  // namespace mmp
