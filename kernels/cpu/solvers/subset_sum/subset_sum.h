// Subset sum: three methods. mmpcodec/solvers/subset_sum/reference.py holds the definitions of the
// answers, equal to the item.
//
// Weights are from 1 up and add up to less than 2^63. The sum wanted is the smallest from `target`
// to `limit` or, where there is none, the largest below `target`. `threads` is the size of the
// team.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/runtime/thread_team.h"

namespace mmp {

// A sum, and the items of the set that has it, ascending.
struct Subset {
    int64_t sum;
    std::vector<int64_t> items;
};

// By a bitset of the sums up to `limit`: limit / 8 bytes, and with items 2 for each sum, 4 from
// 2^16 items up. No sum wanted is below `floor`.
Subset dense_subset(const std::vector<int64_t>& weights, int64_t target, int64_t limit,
                    int64_t floor, bool items, ThreadTeam& team, int threads);

// Bit s % 64 of words[s / 64] says whether s is a sum, up to `limit`; the bits behind it are 0.
void subset_sums(const std::vector<int64_t>& weights, int64_t limit, uint64_t* words,
                 ThreadTeam& team, int threads);

// From all sums of both halves of at most 62 items: 48 bytes for each sum of half of them.
Subset meet_subset(const std::vector<int64_t>& weights, int64_t target, int64_t limit,
                   ThreadTeam& team);

// Pisinger's balanced search for the largest sum up to `capacity`, where each item fits, but not
// all together: 32 bytes for each number up to the heaviest weight and, with items, 8 for each
// change of a set. Where these are more than `most`, the sum is -1.
Subset balanced_subset(const std::vector<int64_t>& weights, int64_t capacity, bool items,
                       int64_t most);

}  // namespace mmp
