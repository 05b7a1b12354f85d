// Lagrangian costs of the symbols of a block with the current models.
#pragma once

#include <stdint.h>

#include "cpu/blocks/levels.h"
#include "cpu/blocks/models.h"
#include "cpu/entropy/rates.h"

namespace mmp {

// Costs in 1/16 squared error. Lambda is in units of 8-bit samples; for deeper samples it is often
// so small that the cost of a bit would round to 0. So the squared error of deeper samples is in
// finer units: those of samples that keep some of the bits beyond 8.
struct BlockCosts {
    static constexpr int kMostSum = 15;  // of five magnitudes of at most 3
    // The places are those of `places_of`.
    static constexpr int kMostPlaces = kDirections * kFrequencies;

    BlockCosts(int extra_bits, bool fine) : fine(fine), extra_(extra_bits) {}

    const bool fine;       // fine contexts
    int finer, coarser;    // bits beyond 8 that costs keep, and bits that they drop
    int64_t lambda_fixed;  // in the finer units
    BitCosts bit;
    int32_t plain;                             // cost of a bit of probability 1/2
    // Of independent magnitudes 0, 1, 2, more; with sign.
    int32_t level[kAreas][kMostPlaces][kMostSum + 1][4];
    // The same by quantiser, then by magnitude and class of the sum: a vector for the trellis.
    int32_t by_sum[kQuantisers][kAreas][kMostPlaces][4][kSumClasses];
    // Of the bit that a level is not 0, with quantiser 0 and a sum of 0. The last level lacks it.
    int32_t nonzero[kAreas][kMostPlaces];

    // Takes the costs of the bits from the models, with this lambda. Call before each fragment.
    void refresh(const BlockModels& models, int64_t lambda);
    const uint8_t* places_of(const Scan& scan, int family) const {
        return fine ? scan.fine_place[family].data() : scan.frequency_class.data();
    }
    int64_t of_squares(int64_t sum) const { return sum << kCostFractionBits >> 2 * coarser; }
    // The cost of squared errors of coefficients, in 1/64 squared error of 8-bit samples.
    int64_t of_coefficients(int64_t sum) const { return sum << 2 * finer >> 2; }
    // The context of a remainder, from a class of sums.
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
    // Writes the cost of each mode, or -1 for modes that are not allowed. `context` is that of
    // modes from earlier planes; `angles` is as in weigh_modes().
    void of_modes(const BlockModels& models, int size, LikelyModes likely, int context,
                  uint64_t allowed, const AngleWeights* angles, int32_t* costs) const;

private:
    static constexpr int kRemainderTable = 64;
    int32_t of_rate(int64_t rate) const { return int32_t(lagrangian(rate, lambda_fixed)); }
    int first_remainder(int context) const {
        return (fine ? kFineRemainderModels : kRemainderModels) + context * kRemainders;
    }
    void refresh_levels(const BlockModels& models);

    const int extra_;
    int64_t remainder_[kRemainderPlaces * kSumClasses][kRemainderTable];
    int32_t last_[kShapes][kLastGroups][2];  // by group and by the bit below the highest one
};

}  // namespace mmp
