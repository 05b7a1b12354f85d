// Subset sum by meet in the middle.
//
// Each half of the items has a list of its distinct sums, ascending, each with the bit mask of the
// first set that has it. Adding an item merges the list with a copy raised by the item's weight;
// each thread finds the positions of two sums by binary search. Finally, each sum of one half
// searches its partners in the other list. Source: E. Horowitz and S. Sahni, "Computing partitions
// with applications to the knapsack problem", Journal of the ACM 1974.
#include "shared/integers.h"

#ifndef MMP_THREADS
#define MMP_THREADS 256
#endif

namespace mmp {

constexpr int kThreads = MMP_THREADS;
constexpr uint64_t kNone = ~uint64_t{0};

// The answer. `above` is the least sum from the target to the limit, `below` the bitwise complement
// of the largest sum below the target; kNone if there is none. `set` is the bit mask of the first
// set with the wanted sum.
struct Found {
    uint64_t above, below, set;
};

// Returns the number of ascending sums below `value`.
__device__ inline int64_t count_below(const int64_t* sums, int64_t count, int64_t value) {
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (sums[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__device__ inline void lower_to(uint64_t* least, uint64_t value) {
    if (value < *const_cast<volatile uint64_t*>(least))
        atomicMin(reinterpret_cast<unsigned long long*>(least),
                  static_cast<unsigned long long>(value));
}

__device__ inline int64_t first_of_thread() {
    return int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

__device__ inline int64_t step() { return int64_t{gridDim.x} * kThreads; }

}  // namespace mmp

using namespace mmp;

// Sets fresh[i] to 1 if sums[i] + weight is at most the limit and not yet in the list, else to 0.
extern "C" __global__ void __launch_bounds__(kThreads)
    mark_new(const int64_t* sums, int64_t count, int64_t weight, int64_t limit, int32_t* fresh) {
    for (int64_t i = first_of_thread(); i < count; i += step()) {
        const int64_t raised = sums[i] + weight;
        const int64_t at = count_below(sums, count, raised);
        fresh[i] = raised <= limit && !(at < count && sums[at] == raised);
    }
}

// Merges the list with the new sums, each raised by the weight of an item and marked with its bit.
// ranks[i] is the number of new sums that come from the first i + 1 sums.
extern "C" __global__ void __launch_bounds__(kThreads)
    merge_new(const int64_t* sums, const uint32_t* masks, int64_t count, int64_t weight, uint32_t bit,
              const int32_t* ranks, int64_t* merged_sums, uint32_t* merged_masks) {
    for (int64_t i = first_of_thread(); i < count; i += step()) {
        const int64_t raised_below = count_below(sums, count, sums[i] - weight);
        const int64_t at = i + (raised_below ? ranks[raised_below - 1] : 0);
        merged_sums[at] = sums[i];
        merged_masks[at] = masks[i];
        const int32_t rank = i ? ranks[i - 1] : 0;
        if (ranks[i] == rank) continue;
        const int64_t place = count_below(sums, count, sums[i] + weight) + rank;
        merged_sums[place] = sums[i] + weight;
        merged_masks[place] = masks[i] | bit;
    }
}

// Sets found->above and found->below from all pairs of sums.
extern "C" __global__ void __launch_bounds__(kThreads)
    find_sums(const int64_t* low, int64_t low_count, const int64_t* high, int64_t high_count,
              int64_t target, int64_t limit, Found* found) {
    uint64_t above = kNone, below = kNone;
    for (int64_t i = first_of_thread(); i < high_count; i += step()) {
        const int64_t at = count_below(low, low_count, target - high[i]);
        if (at < low_count && low[at] + high[i] <= limit)
            above = min(above, static_cast<uint64_t>(low[at] + high[i]));
        if (at) below = min(below, ~static_cast<uint64_t>(low[at - 1] + high[i]));
    }
    if (above != kNone) lower_to(&found->above, above);
    if (below != kNone) lower_to(&found->below, below);
}

// Sets found->set from the pairs with the wanted sum; the low half has `low_items` items.
extern "C" __global__ void __launch_bounds__(kThreads)
    find_set(const int64_t* low, const uint32_t* low_masks, int64_t low_count, const int64_t* high,
             const uint32_t* high_masks, int64_t high_count, int low_items, Found* found) {
    const int64_t sum = static_cast<int64_t>(found->above != kNone ? found->above : ~found->below);
    for (int64_t i = first_of_thread(); i < high_count; i += step()) {
        const int64_t rest = sum - high[i];
        const int64_t at = count_below(low, low_count, rest);
        if (at < low_count && low[at] == rest)
            lower_to(&found->set, uint64_t{high_masks[i]} << low_items | low_masks[at]);
    }
}
