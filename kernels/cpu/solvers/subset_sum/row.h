// Inner step on the bit set of sums: adds one item to a range of words.
#pragma once

#include <stdint.h>

namespace mmp {

// Words processed at once; all ranges begin and end at multiples of kRowWords.
constexpr int64_t kRowWords = 8;

// Sets bit k of words first to last - 1 if bit k - weight is set. It proceeds downwards, so that
// the item is not added twice. Words -8 to -1 exist and are 0.
void add_item(uint64_t* bits, int64_t first, int64_t last, int64_t weight);

// The overload with makers also sets makers[k] = item for each newly set bit k.
void add_item(uint64_t* bits, int64_t first, int64_t last, int64_t weight, uint16_t* makers,
              uint16_t item);
void add_item(uint64_t* bits, int64_t first, int64_t last, int64_t weight, uint32_t* makers,
              uint32_t item);

}  // namespace mmp
