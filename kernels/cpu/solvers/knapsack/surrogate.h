// Upper bounds of the 0-1 knapsack with one constraint by surrogate relaxation.
//
// The break solution has k items, and a better choice has at most k or at least k + 1. Each of
// these two limits is added to the constraint with a multiplier S: weights are w + S, and the
// capacity is c + S k with S >= 0, or c + S (k + 1) with S <= 0. The S used is where the number of
// items of the linear relaxation crosses the limit, because its bound is least there. Lists of
// states solve the relaxed knapsack exactly. The larger of both values bounds the profit; a relaxed
// choice that fits is feasible. Source: S. Martello, D. Pisinger and P. Toth, "Dynamic programming
// and strong bounds for the 0-1 knapsack problem", Management Science 1999.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/solvers/knapsack/items.h"
#include "cpu/solvers/knapsack/lists.h"

namespace mmp {

struct SurrogateAnswer {
    int64_t best, bound;         // profits relative to the break solution
    std::vector<uint8_t> taken;  // open items of a choice with profit `best`; empty: none is new
};

// Bounds the profit of the open items. `best` is the best known profit and `bound` an upper bound,
// both relative to the break solution. Lists make at most `work` states for each of the two limits.
SurrogateAnswer surrogate_bound(const OpenItems& open, int64_t best, int64_t bound, int64_t work,
                                const ListLimits& limits);

}  // namespace mmp
