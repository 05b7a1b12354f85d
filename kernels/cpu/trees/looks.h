// What a dictionary reads of an element before it reads its samples.
#pragma once

#include <stdint.h>

#include "shared/trees/scales.h"

namespace mmp {

constexpr int kParts = 4;

// The means of an element's quarters, or halves, rounded down; and the cell that they give.
struct PartMeans {
    uint8_t means[kParts];
    uint8_t cell;
};

struct Look {
    uint32_t hash;
    PartMeans parts;
};

// Looks at `count` elements of a scale, one behind the other.
void look_at(int scale, const uint8_t* samples, int count, Look* looks);

}  // namespace mmp
