// The dense dynamic programme of knapsacks. mmpcodec/solvers/knapsack holds the definitions.
#pragma once

#include <stdint.h>

#include <chrono>
#include <vector>

#include "cpu/runtime/thread_team.h"

namespace mmp {

// Stages of options. Stage g has the options starts[g] to starts[g + 1] - 1. The table of states
// has one dimension for each capacity; the last one varies fastest.
struct KnapsackStages {
    const int64_t* profits;
    const int64_t* weights;  // a row for each option, a column for each capacity
    const int64_t* starts;
    std::vector<int64_t> shape;

    int64_t states() const;
};

// Returns the number of bits that store a decision between `options` options.
int decision_bits(int64_t options);

// Mark of an infeasible state; every value below half of it marks one.
template <class Value>
constexpr Value kNothing = static_cast<Value>(-(Value{1} << (8 * sizeof(Value) - 2)));

// Computes the row after the stages first to last - 1 from the row before them. `other` is a
// scratch row. `decisions` is null or gets, for each stage, decision_bits planes of
// ceil(states / 64) words; one thread writes each word once. Returns false if the deadline passes
// before the end.
template <class Value>
bool knapsack_sweep(const KnapsackStages& stages, int64_t first, int64_t last, const Value* before,
                    Value* after, Value* other, uint64_t* decisions,
                    std::chrono::steady_clock::time_point deadline, ThreadTeam& team);

// Writes choices[first] to choices[last - 1], which lead to a state by these decisions. Returns the
// state before stage `first`.
int64_t knapsack_trace(const KnapsackStages& stages, int64_t first, int64_t last,
                       const uint64_t* decisions, int64_t state, int64_t* choices);

}  // namespace mmp
