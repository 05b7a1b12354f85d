// Dense dynamic programming for knapsacks. mmpcodec/solvers/knapsack holds the definitions.
#pragma once

#include <stdint.h>

#include <chrono>
#include <vector>

#include "cpu/runtime/thread_team.h"

namespace mmp {

// Stages of options. Stage g has options starts[g] to starts[g + 1] - 1. The table of states has
// one dimension per capacity; the last one varies fastest.
struct KnapsackStages {
    const int64_t* profits;
    const int64_t* weights;  // a row per option, a column per capacity
    const int64_t* starts;
    std::vector<int64_t> shape;

    int64_t states() const;
};

// Returns the number of bits that store a choice among `options` options.
int decision_bits(int64_t options);

// Mark of an infeasible state; every value below half of it counts as infeasible.
template <class Value>
constexpr Value kNothing = static_cast<Value>(-(Value{1} << (8 * sizeof(Value) - 2)));

// Computes the row after stages first to last - 1 from the row before them. `other` is a scratch
// row. `decisions` is null or receives, per stage, decision_bits planes of ceil(states / 64) words;
// each word is written once, by one thread. Returns false if the deadline passes.
template <class Value>
bool knapsack_sweep(const KnapsackStages& stages, int64_t first, int64_t last, const Value* before,
                    Value* after, Value* other, uint64_t* decisions,
                    std::chrono::steady_clock::time_point deadline, ThreadTeam& team);

// Traces back: writes choices[first] to choices[last - 1], which lead to `state`. Returns the state
// before stage `first`.
int64_t knapsack_trace(const KnapsackStages& stages, int64_t first, int64_t last,
                       const uint64_t* decisions, int64_t state, int64_t* choices);

}  // namespace mmp
