// Bounds of the 0-1 knapsack of one constraint by surrogate relaxation.
//
// The break solution has k items, and a better choice has at most k or at least k + 1. Each of
// these limits is added to the constraint S times: weights are w + S and the capacity is c + S k,
// with S >= 0, or c + S (k + 1), with S <= 0. At the S taken, the number of items of the linear
// relaxation crosses the limit, where its bound is least. Lists of states solve the relaxed
// knapsack. The larger of both values bounds the profit; a relaxed choice that fits is a choice.
// Source: S. Martello, D. Pisinger and P. Toth, "Dynamic programming and strong bounds for the 0-1
// knapsack problem", Management Science 1999.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/solvers/knapsack/items.h"
#include "cpu/solvers/knapsack/lists.h"

namespace mmp {

struct SurrogateAnswer {
    int64_t best, bound;         // profits beside that of the break solution
    std::vector<uint8_t> taken;  // choice of the open items of profit `best`; empty if none is new
};

// Bounds the profit of the open items. `best` is the best known profit and `bound` an upper bound,
// both beside the profit of the break solution. Lists make at most `work` states for each limit.
SurrogateAnswer surrogate_bound(const OpenItems& open, int64_t best, int64_t bound, int64_t work,
                                const ListLimits& limits);

}  // namespace mmp
