// The inner step on the bitset of sums: it adds one item to a range of words.
#pragma once

#include <stdint.h>

namespace mmp {

// Words that are handled at once; all ranges begin and end at multiples of kRowWords.
constexpr int64_t kRowWords = 8;

// Sets bit k of the words first to last - 1 if bit k - weight is set. It goes downwards, so that
// the item is not taken twice. The words -8 to -1 exist and are 0.
void add_item(uint64_t* bits, int64_t first, int64_t last, int64_t weight);

// Does the same and sets makers[k] = item for each bit k that was not set before.
void add_item(uint64_t* bits, int64_t first, int64_t last, int64_t weight, uint16_t* makers,
              uint16_t item);
void add_item(uint64_t* bits, int64_t first, int64_t last, int64_t weight, uint32_t* makers,
              uint32_t item);

}  // namespace mmp
