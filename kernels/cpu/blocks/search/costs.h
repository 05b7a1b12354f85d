// Lagrangian costs of what a block codes, from the models at one moment.
#pragma once

#include <stdint.h>

#include "cpu/blocks/models.h"
#include "cpu/entropy/rates.h"

namespace mmp {

// Costs in 1/16 squared error. Lambda counts in units of 8-bit samples; for deeper samples it is
// often so small that a bit would cost nothing. The squared error then counts in finer units, of
// samples that keep some of the bits beyond 8.
struct BlockCosts {
    BlockCosts(int64_t lambda_fixed, int extra_bits);

    const int finer, coarser;  // bits beyond 8 that costs keep, and bits that they drop
    const int64_t lambda_fixed;  // for samples with the kept bits
    BitCosts bit;
    int32_t plain;                             // a bit of probability 1/2
    int32_t level[kAreas][kPlaces][kSums][4];  // 0, 1, 2, more; with the sign

    void refresh(const BlockModels& models);
    int64_t of_squares(int64_t sum) const { return sum << kCostFractionBits >> 2 * coarser; }
    int64_t of_remainder(int area, int value) const {
        return value < kRemainderTable ? remainder_[area >= 2][value]
                                       : remainder_cost(bit, plain, area, value);
    }
    int32_t of_last(int a, int b, int last) const { return last_cost(bit, plain, a, b, last); }
    // The cost of each mode; -1 for modes that are not allowed.
    void of_modes(const BlockModels& models, int size, LikelyModes likely, uint64_t allowed,
                  int32_t* costs) const;

private:
    static constexpr int kRemainderTable = 64;
    int32_t of_rate(int64_t rate) const { return int32_t(lagrangian(rate, lambda_fixed)); }
    int64_t remainder_[2][kRemainderTable];
};

}  // namespace mmp
