// Branch and bound for the 0-1 knapsack of one constraint, over lists of states.
//
// A list holds the undominated states of a core of items around the break item, by weight. Items
// outside the core are as in the break solution. States whose bound is too low are dropped. A first
// pass finds the best value. A second pass keeps the ties, and so finds the choice that the
// definitions name. Idea: D. Pisinger, "A minimal algorithm for the 0-1 knapsack problem",
// Operations Research 1997.
#pragma once

#include <stdint.h>

#include <chrono>

namespace mmp {

enum class CoreOutcome : uint8_t { kNothing, kValue, kChoice };

struct CoreLimits {
    int64_t list;    // states of a list
    int64_t stored;  // states of all lists of the second pass
    int64_t work;    // states made in a pass
    std::chrono::steady_clock::time_point deadline;
};

// Solves an instance of `count` items with positive profits and weights, none above the capacity,
// which is below the sum of the weights. They come in the order of stages that the definitions
// give: the break item, then in turn one in front of it and one behind. `value` is that of some
// choice, or the best; `take` is the choice where that is found, and else a good one, worth `value`
// or less.
CoreOutcome knapsack_core(const int64_t* profits, const int64_t* weights, int64_t count,
                          int64_t capacity, const CoreLimits& limits, int64_t& value,
                          uint8_t* take);

}  // namespace mmp
