// Subset sum by three methods. mmpcodec/solvers/subset_sum/reference.py defines the answers; sums
// and items are equal to those of the reference.
//
// Weights are at least 1 and sum to less than 2^63. The wanted sum is the smallest sum from
// `target` to `limit`; if there is none, the largest sum below `target`. `threads` is the number of
// threads of the team. All methods throw OutOfTime soon after the deadline.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/runtime/interrupts.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

// A sum, and the ascending indices of the items of a set with this sum.
struct Subset {
    int64_t sum;
    std::vector<int64_t> items;
};

// Finds the wanted sum by a bit set of the sums up to `limit`. Memory: limit / 8 bytes and, with
// `items`, 2 bytes per sum, or 4 from 2^16 items up. The wanted sum must be at least `floor`.
Subset dense_subset(const std::vector<int64_t>& weights, int64_t target, int64_t limit,
                    int64_t floor, bool items, Deadline deadline, ThreadTeam& team,
                    int threads);

// Sets bit s % 64 of words[s / 64] to whether s is a sum, for s up to `limit`, and the bits above
// `limit` to 0.
void subset_sums(const std::vector<int64_t>& weights, int64_t limit, uint64_t* words,
                 Deadline deadline, ThreadTeam& team, int threads);

// Meet in the middle for at most 62 items: finds the wanted sum from all sums of both halves.
// Memory: 48 bytes per sum of half the items.
Subset meet_subset(const std::vector<int64_t>& weights, int64_t target, int64_t limit,
                   Deadline deadline, ThreadTeam& team);

// Finds the largest sum up to `capacity` by Pisinger's balanced search. Each item must fit alone,
// but not all together. Memory: 32 bytes per number up to the heaviest weight and, with `items`, 8
// bytes per change of a set. After more than `most` changes, the sum is -1.
Subset balanced_subset(const std::vector<int64_t>& weights, int64_t capacity, bool items,
                       int64_t most, Deadline deadline);

}  // namespace mmp
