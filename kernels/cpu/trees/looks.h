// What a dictionary reads of an element before it reads its samples.
#pragma once

#include <stdint.h>

#include "shared/trees/scales.h"

namespace mmp {

constexpr int kParts = 4;

// The sums of an element's quarters, or halves, and the number of the cell that follows.
struct PartSums {
    int16_t sums[kParts];
    uint8_t cell;
};

struct Look {
    uint32_t hash;
    PartSums parts;
};

// Looks at `count` elements of a scale, one behind the other.
void look_at(int scale, const uint8_t* samples, int count, Look* looks);

}  // namespace mmp
