// The inner step of the bitset of sums: one item is added to a part of it.
#pragma once

#include <stdint.h>

namespace mmp {

// Words that are handled at once; all parts begin and end at multiples of them.
constexpr int64_t kRowWords = 8;

// Sets bit k of words first to last - 1 where bit k - weight is set. Goes downwards, so that no
// item is taken twice. Words -8 to -1 exist and are 0.
void add_item(uint64_t* bits, int64_t first, int64_t last, int64_t weight);

// The same, and makers[k] = item for each bit k that was not set before.
void add_item(uint64_t* bits, int64_t first, int64_t last, int64_t weight, uint16_t* makers,
              uint16_t item);
void add_item(uint64_t* bits, int64_t first, int64_t last, int64_t weight, uint32_t* makers,
              uint32_t item);

}  // namespace mmp
