// Adaptive model of a binary symbol. Source: section "Binary models" of docs/format/format.md.
#pragma once

#include "shared/integers.h"

namespace mmp {

constexpr uint32_t kBitTotal = 1 << 16;
constexpr int kLeastProbability = 128;  // which a model approaches, and never passes
constexpr int kSlowest = 64;

// Adaptation rate by the number of bits seen: 1 / (seen + 3/2), in 1/65536.
MMP_HD constexpr int adaptation_rate(int seen) { return (1 << 17) / (2 * seen + 3); }
#ifndef __CUDACC__
// On the host, a division takes longer than a look-up.
struct AdaptationRates {
    uint16_t of[kSlowest + 1] = {};

    constexpr AdaptationRates() {
        for (int seen = 0; seen <= kSlowest; ++seen) of[seen] = uint16_t(adaptation_rate(seen));
    }
};
constexpr AdaptationRates kAdaptationRates;
#endif

// Probability of a 1, in 1/65536. The adaptation rate falls with the number of bits seen.
struct BitModel {
    uint16_t one = 1 << 15;
    uint8_t seen = 0;

    MMP_HD_INLINE void count(int bit) {
#ifdef __CUDACC__
        const uint32_t rate = adaptation_rate(seen);
#else
        const uint32_t rate = kAdaptationRates.of[seen];
#endif
        count(bit, rate);
    }
    // The same, by the adaptation rate of the bits seen.
    MMP_HD_INLINE void count(int bit, uint32_t rate) {
        constexpr uint32_t kLeast = kLeastProbability;
        constexpr uint32_t kMost = kBitTotal - kLeastProbability;
        if (bit)
            one = uint16_t(one + ((kMost - one) * rate >> 16));
        else
            one = uint16_t(one - (((one - kLeast) * rate + 65535) >> 16));
        seen = uint8_t(seen + (seen < kSlowest));
    }

    // Sets the initial state: a probability in 1/256 and the number of bits that it counts as.
    MMP_HD void start(const uint8_t* trained) {
        one = uint16_t(256 * trained[0] + 128);
        seen = uint8_t(smaller(trained[1], kSlowest));
    }

    // Encoder only: averages both probabilities, weighted by the number of bits seen.
    MMP_HD void merge(const BitModel& other) {
        const int weight = seen + other.seen;
        if (weight == 0) return;
        one = uint16_t((one * seen + other.one * other.seen + weight / 2) / weight);
        seen = uint8_t(larger(seen, other.seen));
    }
};

// Probability of a 1 as the mean of two models.
MMP_HD constexpr uint32_t mean_probability(const BitModel& model, const BitModel& other) {
    return (uint32_t{model.one} + other.one) >> 1;
}

}  // namespace mmp
