// Look: hash and part means of an element, which a dictionary compares before it reads samples.
#pragma once

#include <stdint.h>

#include "shared/trees/scales.h"

namespace mmp {

constexpr int kParts = 4;

// Means of the quarters or halves of an element, rounded down, and the cell number that they give.
struct PartMeans {
    uint8_t means[kParts];
    uint8_t cell;
};

struct Look {
    uint32_t hash;
    PartMeans parts;
};

// Computes the looks of `count` elements of a scale, which are contiguous in `samples`.
void look_at(int scale, const uint8_t* samples, int count, Look* looks);

}  // namespace mmp
