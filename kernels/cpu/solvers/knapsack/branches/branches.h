// Branch and bound for 0-1 and multiple-choice knapsacks with several budgets.
//
// At each node, a dual simplex (simplex.h) gives the dual prices of the budgets in floating point.
// They are rounded to integers, and every bound is the Lagrangian bound of the rounded prices in
// exact integers (mmpcodec/solvers/knapsack/bounds.py), so no proof depends on floating point.
// Options whose bound is too low are removed from the node (reduced-cost fixing). If every stage
// has two options, their second options are counted, and the search also branches on this count.
// Sources: M. Fisher, "The Lagrangian relaxation method", Management Science 1981; N. Driebeek, "An
// algorithm for the solution of mixed integer programming problems", Management Science 1966; M.
// Vasquez and Y. Vimont, "Improved results on the 0-1 multidimensional knapsack problem", European
// Journal of Operational Research 2005.
#pragma once

#include <stdint.h>

#include <chrono>
#include <vector>

namespace mmp {

// Stage g has options starts[g] to starts[g + 1] - 1, at least two. `weights` has a row per option
// and a column per capacity. For each capacity, the sum of the least weights of all stages is at
// most the capacity. With `exact`, the weights of a choice must sum to exactly the capacities.
struct BranchProblem {
    const int64_t* profits;
    const int64_t* weights;
    const int64_t* starts;
    int64_t stages;
    std::vector<int64_t> capacities;
    bool exact;
};

struct BranchLimits {
    int64_t work;  // limit of changed tableau entries
    std::chrono::steady_clock::time_point deadline;
};

struct BranchAnswer {
    bool proven;    // whether `value` is proven optimal
    int64_t value;  // best profit, at least `known`; INT64_MIN: no choice is known
    int64_t bound;  // upper bound of the profit of any choice; INT64_MIN: none is feasible
    int64_t nodes;
};

// `known` is the profit of a known choice, or INT64_MIN. `choices` receives the best choice if it
// is better than `known`.
BranchAnswer knapsack_branches(const BranchProblem& problem, int64_t known,
                               const BranchLimits& limits, int64_t* choices);

}  // namespace mmp
