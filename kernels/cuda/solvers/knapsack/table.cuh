// Tables of knapsacks on the device; mmpcodec/solvers/knapsack holds the definitions.
//
// Compiled for the type of a row's values (-DMMP_VALUE), for that of states (-DMMP_INDEX, 32 bits
// where all numbers of states are below 2^31) and for a number of budgets (-DMMP_BUDGETS).
#pragma once

#include "cuda/device/warp.cuh"

#ifndef MMP_VALUE
#define MMP_VALUE int
#endif
#ifndef MMP_INDEX
#define MMP_INDEX unsigned int
#endif
#ifndef MMP_BUDGETS
#define MMP_BUDGETS 2
#endif

namespace mmp {

using Value = MMP_VALUE;
using Index = MMP_INDEX;

constexpr int kBudgets = MMP_BUDGETS;

// All values, and all profits of what fits, have smaller magnitudes.
constexpr Value kMagnitude = Value{1} << (8 * sizeof(Value) - 3);
// What stands for "no choice leads here", and for an option that does not fit. Everything below
// half of it does; where profits may add up to more than half, all values are from 0 up.
constexpr Value kNothing = -2 * kMagnitude;

// What does not fit has a weight that no state holds, and neither shift nor profit.
struct Option {
    Index weights[kBudgets];
    Index shift;  // to the state in front of it
    Value profit;
};

struct Stage {
    int64_t plane;  // number of planes of decisions in front of its own
    int32_t option, options;
};

// A problem with one row of states and planes of decisions, `words` each.
struct Table {
    int64_t states, words;
    int64_t decisions;  // its first word
    int64_t state;      // whose choices are wanted
    Index sizes[kBudgets];
    uint32_t magics[kBudgets], shifts[kBudgets];  // for division by the sizes
    int32_t first_pass, last_pass, first_stage, last_stage;
};

// T. Granlund and P. Montgomery, "Division by invariant integers using multiplication", 1994.
__device__ inline Index divided(Index state, const Table& table, int budget) {
    if (sizeof(Index) == 8) return state / table.sizes[budget];
    const uint32_t low = static_cast<uint32_t>(state);
    return (__umulhi(table.magics[budget], low) + low) >> table.shifts[budget];
}

// The capacities that a state stands for.
__device__ inline void locate(const Table& table, Index state, Index* capacities) {
#pragma unroll
    for (int i = kBudgets - 1; i > 0; --i) {
        const Index line = divided(state, table, i);
        capacities[i] = state - line * table.sizes[i];
        state = line;
    }
    capacities[0] = state;
}

__device__ inline bool holds(const Index* capacities, const Index* weights) {
    bool all = true;
#pragma unroll
    for (int i = 0; i < kBudgets; ++i) all &= capacities[i] >= weights[i];
    return all;
}

}  // namespace mmp
