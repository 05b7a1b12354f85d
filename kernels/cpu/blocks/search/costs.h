// Lagrangian costs of the symbols of a block under the current models.
#pragma once

#include <stdint.h>

#include "cpu/blocks/levels.h"
#include "cpu/blocks/models.h"
#include "cpu/entropy/rates.h"

namespace mmp {

// Costs in 1/16 squared error. Lambda is given for 8-bit samples; for deeper samples it is often so
// small that the cost of a bit would round to 0. Costs of deeper samples therefore keep `finer` of
// the bits beyond 8, which makes their unit smaller.
struct BlockCosts {
    static constexpr int kMostSum = 15;  // of five magnitudes, each clipped to 3
    // Places are those of places_of().
    static constexpr int kMostPlaces = kDirections * kFrequencies;

    BlockCosts(int extra_bits, bool fine) : fine(fine), extra_(extra_bits) {}

    const bool fine;       // whether fine contexts are on
    int finer, coarser;    // numbers of bits beyond 8 that costs keep and drop
    int64_t lambda_fixed;  // lambda in the finer unit
    BitCosts bit;
    int32_t plain;                             // cost of a bit of probability 1/2
    // Cost of independent magnitudes 0, 1, 2, and 3 or more, sign included.
    int32_t level[kAreas][kMostPlaces][kMostSum + 1][4];
    // Costs of magnitudes with their class of sums innermost, so that the trellis loads them as a
    // vector; by quantiser.
    int32_t by_sum[kQuantisers][kAreas][kMostPlaces][4][kSumClasses];
    // Cost of the bit that says that a level is not 0, with quantiser 0 and a sum of 0. The last
    // level is not 0, so this bit is not coded for it.
    int32_t nonzero[kAreas][kMostPlaces];

    // Computes the costs of all symbols from the models and lambda. Call before each fragment.
    void refresh(const BlockModels& models, int64_t lambda);
    const uint8_t* places_of(const Scan& scan, int family) const {
        return fine ? scan.fine_place[family].data() : scan.frequency_class.data();
    }
    int64_t of_squares(int64_t sum) const { return sum << kCostFractionBits >> 2 * coarser; }
    // The cost of squared errors of coefficients, in 1/64 squared error of 8-bit samples.
    int64_t of_coefficients(int64_t sum) const { return sum << 2 * finer >> 2; }
    // Context of the remainder of a magnitude, from the class of the sum of magnitudes around it.
    int remainder_context(int area, int place, int sum) const {
        if (!fine) return area >= 2;
        return (fine_remainder_models(place % kFrequencies, sum) - kFineRemainderModels) /
               kRemainders;
    }
    int64_t of_remainder(int context, int value) const {
        return value < kRemainderTable
                   ? remainder_[context][value]
                   : remainder_cost_from(bit, plain, first_remainder(context), value);
    }
    int32_t of_last(int a, int b, int last) const {
        const int group = floor_log2(last + 1);
        return last_[shape_number(a, b)][group][group && ((last + 1) >> (group - 1) & 1)];
    }
    // Writes the cost of each mode, or -1 for modes that are not allowed. `context` is the context
    // of the cross-component modes.
    void of_modes(const BlockModels& models, int size, LikelyModes likely, int context,
                  uint64_t allowed, int32_t* costs) const;

private:
    static constexpr int kRemainderTable = 64;
    int32_t of_rate(int64_t rate) const { return int32_t(lagrangian(rate, lambda_fixed)); }
    int first_remainder(int context) const {
        return (fine ? kFineRemainderModels : kRemainderModels) + context * kRemainders;
    }
    void refresh_levels(const BlockModels& models);

    const int extra_;
    int64_t remainder_[kRemainderPlaces * kSumClasses][kRemainderTable];
    int32_t last_[kShapes][kLastGroups][2];  // [shape][group][bit below the highest of last + 1]
};

}  // namespace mmp
