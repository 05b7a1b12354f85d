// Branch and bound for 0-1 and multiple-choice knapsacks of several budgets.
//
// A dual simplex (simplex.h) gives the prices of the budgets at each node, in floating point. They
// are rounded to integers, and every bound is the Lagrangian bound of the rounded prices, in exact
// integers (mmpcodec/solvers/knapsack/bounds.py); so no proof rests on floating point. Options
// whose bound is too low leave the node. If all stages have two options, their second options are
// counted, and nodes with different counts are branches as well. Sources: M. Fisher, "The
// Lagrangian relaxation method", Management Science 1981; N. Driebeek, "An algorithm for the
// solution of mixed integer programming problems", Management Science 1966; M. Vasquez and Y.
// Vimont, "Improved results on the 0-1 multidimensional knapsack problem", European Journal of
// Operational Research 2005.
#pragma once

#include <stdint.h>

#include <chrono>
#include <vector>

namespace mmp {

// Stage g has the options starts[g] to starts[g + 1] - 1, at least two. `weights` has a row for
// each option and a column for each capacity. For each capacity, the least weights of all stages
// add up to at most the capacity. With `exact`, weights must add up to the capacities.
struct BranchProblem {
    const int64_t* profits;
    const int64_t* weights;
    const int64_t* starts;
    int64_t stages;
    std::vector<int64_t> capacities;
    bool exact;
};

struct BranchLimits {
    int64_t work;  // most numbers of the tableau that change
    std::chrono::steady_clock::time_point deadline;
};

struct BranchAnswer {
    bool proven;    // whether no choice is better than `value`
    int64_t value;  // the best profit, at least the known one; INT64_MIN if there is none
    int64_t bound;  // upper bound of the profits of all choices; INT64_MIN if none is feasible
    int64_t nodes;
};

// `known` is the profit of a known choice, or INT64_MIN. `choices` gets the best choice if it is
// better than `known`.
BranchAnswer knapsack_branches(const BranchProblem& problem, int64_t known,
                               const BranchLimits& limits, int64_t* choices);

}  // namespace mmp
