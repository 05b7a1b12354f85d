// The dense dynamic programme of knapsacks. mmpcodec/solvers/knapsack holds the definitions.
#pragma once

#include <stdint.h>

#include <chrono>
#include <vector>

#include "cpu/runtime/thread_team.h"

namespace mmp {

// Stages of options; stage g has the options starts[g] to starts[g + 1] - 1, and a table of states
// has one dimension for each capacity, the last one fastest.
struct KnapsackStages {
    const int64_t* profits;
    const int64_t* weights;  // a row for each option, a column for each capacity
    const int64_t* starts;
    std::vector<int64_t> shape;

    int64_t states() const;
};

// Bits that a decision between some options takes.
int decision_bits(int64_t options);

// What stands for "no choice leads here"; everything below half of it does.
template <class Value>
constexpr Value kNothing = static_cast<Value>(-(Value{1} << (8 * sizeof(Value) - 2)));

// Computes the row behind stages first to last - 1 from the row in front of them. `other` is
// scratch. `decisions`, where not null, gets for each stage decision_bits planes of
// ceil(states / 64) words; every word is written once, by one thread. Returns false where the
// deadline has passed before all was done.
template <class Value>
bool knapsack_sweep(const KnapsackStages& stages, int64_t first, int64_t last, const Value* before,
                    Value* after, Value* other, uint64_t* decisions,
                    std::chrono::steady_clock::time_point deadline, ThreadTeam& team);

// Writes choices[first] to choices[last - 1], those that lead to a state by these decisions, and
// returns the state in front of them.
int64_t knapsack_trace(const KnapsackStages& stages, int64_t first, int64_t last,
                       const uint64_t* decisions, int64_t state, int64_t* choices);

}  // namespace mmp
