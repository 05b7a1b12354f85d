// Lagrangian costs of the symbols of a block with the current models.
#pragma once

#include <stdint.h>

#include "cpu/blocks/models.h"
#include "cpu/entropy/rates.h"
#include "shared/blocks/dependent.h"

namespace mmp {

// Costs in 1/16 squared error. Lambda is in units of 8-bit samples; for deeper samples it is often
// so small that the cost of a bit would round to 0. So the squared error of deeper samples is in
// finer units: those of samples that keep some of the bits beyond 8.
struct BlockCosts {
    static constexpr int kMostSum = 15;  // of five magnitudes of at most 3

    explicit BlockCosts(int extra_bits) : extra_(extra_bits) {}

    int finer, coarser;    // bits beyond 8 that costs keep, and bits that they drop
    int64_t lambda_fixed;  // in the finer units
    BitCosts bit;
    int32_t plain;                             // cost of a bit of probability 1/2
    // Of magnitudes 0, 1, 2, more, by quantiser; with sign. Sums from kSums on cost as kSums - 1.
    int32_t level[kQuantisers][kAreas][kPlaces][kMostSum + 1][4];
    // The same by magnitude, then by the first sums: a vector for the trellis.
    int32_t by_sum[kQuantisers][kAreas][kPlaces][4][8];

    // Takes the costs of the bits from the models, with this lambda. Call before each fragment.
    void refresh(const BlockModels& models, int64_t lambda);
    int64_t of_squares(int64_t sum) const { return sum << kCostFractionBits >> 2 * coarser; }
    int64_t of_remainder(int area, int value) const {
        return value < kRemainderTable ? remainder_[area >= 2][value]
                                       : remainder_cost(bit, plain, area, value);
    }
    int32_t of_last(int a, int b, int last) const {
        const int group = floor_log2(last + 1);
        return last_[shape_number(a, b)][group][group && ((last + 1) >> (group - 1) & 1)];
    }
    // Writes the cost of each mode, or -1 for modes that are not allowed. `context` is that of
    // modes from earlier planes.
    void of_modes(const BlockModels& models, int size, LikelyModes likely, int context,
                  uint64_t allowed, int32_t* costs) const;

private:
    static constexpr int kRemainderTable = 64;
    int32_t of_rate(int64_t rate) const { return int32_t(lagrangian(rate, lambda_fixed)); }
    const int extra_;
    int64_t remainder_[2][kRemainderTable];
    int32_t last_[kShapes][kLastGroups][2];  // by group and by the bit below the highest one
};

}  // namespace mmp
