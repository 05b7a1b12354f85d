// Knapsack tables on the device; mmpcodec/solvers/knapsack holds the definitions.
//
// Compile-time parameters: type of values (-DMMP_VALUE), type of state indices (-DMMP_INDEX, 32
// bits if every table has fewer than 2^31 states), number of budgets (-DMMP_BUDGETS).
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

// Exclusive limit of the magnitude of all values and of the profits of all options that fit.
constexpr Value kMagnitude = Value{1} << (8 * sizeof(Value) - 3);
// Mark of an infeasible state and of an option that does not fit; every value below half of it
// counts as infeasible. If the sum of profits can exceed that half, all values are 0 or more.
constexpr Value kNothing = -2 * kMagnitude;

// An option that fits in no state has a weight above the capacity, shift 0 and profit 0.
struct Option {
    Index weights[kBudgets];
    Index shift;  // distance from a state to its predecessor, in states
    Value profit;
};

struct Stage {
    int64_t plane;  // number of bit planes of decisions of earlier stages
    int32_t option, options;
};

// The table of a problem; one bit plane of its decisions has `words` words.
struct Table {
    int64_t states, words;
    int64_t decisions;  // index of its first word of decisions
    int64_t state;      // state from which the choices are traced
    Index sizes[kBudgets];
    uint32_t magics[kBudgets], shifts[kBudgets];  // to divide by the sizes
    int32_t first_pass, last_pass, first_stage, last_stage;
};

// Division by multiplication. Source: T. Granlund and P. Montgomery, "Division by invariant
// integers using multiplication", 1994.
__device__ inline Index divided(Index state, const Table& table, int budget) {
    if (sizeof(Index) == 8) return state / table.sizes[budget];
    const uint32_t low = static_cast<uint32_t>(state);
    return (__umulhi(table.magics[budget], low) + low) >> table.shifts[budget];
}

// Converts a state index to the capacity in each budget.
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
