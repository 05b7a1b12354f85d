// Binary decisions whose probability is mixed from 8 or 24 models, each with a context of its own.
// 24 models have four sets of weights and a last stage, 8 models have one set.
// Source: section "Logistic mixing" of docs/format/format.md; after M. Mahoney, "Adaptive weighing
// of context models for lossless data compression", 2005.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <array>

#include "cpu/entropy/lines.h"
#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

constexpr int kMostStretch = 2047;  // largest logarithm of odds, in 1/256
constexpr int kMostMixed = 2815;
constexpr int kMostSets = 4;
constexpr int kStages = 33;  // probabilities of the last stage for a decision and a row
constexpr int kRates = 2048;

struct MixTables {
    MixTables();
    int16_t stretch[4096];  // by the upper bits of a stored probability
    uint16_t squash[2 * kMostMixed + 1];
    uint16_t rate[256];
};
extern const MixTables kMix;

// By the number of bits that a weight has seen: how fast it learns.
struct WeightRates {
    uint8_t of[kRates];
    constexpr WeightRates() : of() {
        for (int m = 0; m < kRates; ++m) of[m] = uint8_t(2 + 2000 / (100 + m));
    }
};
inline constexpr WeightRates kWeightRates;

template <int Models, int LineBits = line_bits(Models)>
class LogisticMixing {
public:
    // `contexts` holds the number of contexts of each model, 0 for a hashed one; `rows` the number
    // of rows of each set of weights, of which the first are in use.
    LogisticMixing(const Decisions& decisions, const std::array<int, Models>& contexts,
                   const std::array<int, kMostSets>& rows);

    // Where the first model starts for a context and a decision; its contexts are not hashed.
    void start(uint32_t context, int decision, int one, int uses) {
        lines_.start(context, decision, (uint32_t(one) ^ kHalfOfModel) | uint32_t(uses) << 16);
    }
    // Where the weights of the first model and of the others start.
    void start_weights(int first, int others) {
        for (size_t place = 0; place < set_start_[kSets]; ++place)
            for (int i = 0; i < Models; ++i)
                weights_[place * Models + i] = int16_t((i ? others : first) - kStartWeight);
    }

    MMP_INLINE void select(const std::array<uint32_t, Models>& contexts,
                           const std::array<int, kMostSets>& rows) {
        lines_.select(contexts);
        for (int set = 0; set < kSets; ++set)
            row_[set] = rows[set] * decisions_;
    }

    // Returns the probability of a 1, in 1/65536.
    MMP_INLINE int predict(int decision);
    // Updates models and weights by the bit. Call predict() for the decision before.
    MMP_INLINE void learn(int decision, int bit);

private:
    static constexpr int kSets = Models == 8 ? 1 : kMostSets;
    static constexpr bool kHasLastStage = kSets > 1;
    // Weights and shares are stored without their start, so that they start as zeros.
    static constexpr int16_t kStartWeight = Models == 8 ? 2621 : 1200;
    static constexpr int16_t kMostWeight = 28000, kLeastStored = -kMostWeight - kStartWeight,
                             kMostStored = kMostWeight - kStartWeight;
    static constexpr int32_t kStartShare = 16384, kMostShare = (1 << 17) - 1;

    MMP_INLINE int16_t* weights(int set, int decision) const {
        return weights_.get() + (set_start_[set] + row_[set] + decision) * Models;
    }
    MMP_INLINE Ints4 products(const int16_t* weights) const;
    MMP_INLINE void learn_weights(int set, int decision, int gain);
    static MMP_INLINE Ints4 limited(Ints4 v, int least, int most) {
        v = v < least ? Ints4{} + least : v;
        return v > most ? Ints4{} + most : v;
    }
    MMP_INLINE uint16_t& seen(int set, int decision) {
        return seen_[set_start_[set] + row_[set] + decision];
    }

    int decisions_;
    ModelLines<Models, LineBits> lines_;
    size_t set_start_[kSets + 1];
    ZeroedLines<int16_t> weights_;
    Zeroed<uint16_t> seen_;
    Zeroed<int32_t> shares_;    // empty with one set
    Zeroed<uint16_t> stages_;  // empty without the last stage

    size_t row_[kSets] = {};

    // What predict() leaves for learn().
    alignas(32) int16_t stretched_[Models];
    alignas(32) uint32_t used_[Models];
    alignas(16) int32_t mixed_[kMostSets];  // the logarithm of odds by each set
    int together_;          // and by all
    uint16_t* stage_ = nullptr;
};

template <int Models, int LineBits>
MMP_INLINE int LogisticMixing<Models, LineBits>::predict(int decision) {
    lines_.find(decision);
    for (int from = 0; from < Models; from += 8) {
        const auto model = [&](int i) __attribute__((always_inline)) {
            return *lines_.at(from + i, decision);
        };
        const Unsigned8 used = {model(0), model(1), model(2), model(3),
                                model(4), model(5), model(6), model(7)};
        const auto odds = [&](int i) __attribute__((always_inline)) {
            return kMix.stretch[uint16_t(used[i]) >> 4];
        };
        const Shorts8 stretched = {odds(0), odds(1), odds(2), odds(3),
                                   odds(4), odds(5), odds(6), odds(7)};
        store(used_ + from, used);
        store(stretched_ + from, stretched);
    }
    if constexpr (kSets == 1) {
        const Ints4 sums = products(weights(0, decision));
        together_ = mixed_[0] = std::clamp((sums[0] + sums[2] + (sums[1] + sums[3])) >> 14,
                                           -kMostMixed, kMostMixed);
    } else {
        const Ints4 sums =
            sums_of_neighbours(sums_of_neighbours(products(weights(0, decision)),
                                                  products(weights(1, decision))),
                               sums_of_neighbours(products(weights(2, decision)),
                                                  products(weights(3, decision)))) >> 14;
        const Ints4 mixed = limited(sums, -kMostMixed, kMostMixed);
        store(mixed_, mixed);
        const Ints4 parts =
            (loaded<Ints4>(&shares_[decision * kMostSets]) + kStartShare) * mixed;
        together_ = std::clamp((parts[0] + parts[2] + (parts[1] + parts[3])) >> 16, -kMostMixed,
                               kMostMixed);
    }
    const int probability = kMix.squash[together_ + kMostMixed];
    if (!kHasLastStage) return probability;
    const int t = std::clamp(together_ + 2048, 0, 4095), k = t >> 7, f = t & 127;
    uint16_t* stages = &stages_[(row_[0] + decision) * kStages + k];
    stage_ = stages + (f >= 64);
    const int staged = ((128 - f) * stages[0] + f * stages[1]) >> 7;
    return std::clamp((probability + staged) >> 1, kLeastOfModel,
                      65536 - kLeastOfModel);
}

template <int Models, int LineBits>
MMP_INLINE Ints4 LogisticMixing<Models, LineBits>::products(const int16_t* weights) const {
    Ints4 sums{};
    for (int from = 0; from < Models; from += 8)
        sums += sums_of_pairs(loaded<Shorts8>(weights + from) + kStartWeight,
                              loaded<Shorts8>(stretched_ + from));
    return sums;
}

template <int Models, int LineBits>
MMP_INLINE void LogisticMixing<Models, LineBits>::learn_weights(int set, int decision, int gain) {
    int16_t* w = weights(set, decision);
    const Shorts8 gains = Shorts8{} + int16_t(gain);
    for (int from = 0; from < Models; from += 8) {
        const Shorts8 product = high_products(4 * loaded<Shorts8>(stretched_ + from), gains);
        Shorts8 moved = loaded<Shorts8>(w + from) + ((product + 1) >> 1);
        moved = moved < kLeastStored ? Shorts8{} + kLeastStored : moved;
        store(w + from, moved > kMostStored ? Shorts8{} + kMostStored : moved);
    }
}

template <int Models, int LineBits>
MMP_INLINE void LogisticMixing<Models, LineBits>::learn(int decision, int bit) {
    const int32_t target = bit << 16;
    if (kHasLastStage) *stage_ = uint16_t(*stage_ + ((std::min(target, 65535) - *stage_) >> 6));
    const auto gain = [&](int set) __attribute__((always_inline)) {
        uint16_t& seen = this->seen(set, decision);
        const int off = (target - kMix.squash[mixed_[set] + kMostMixed]) >> 4;
        const int found = kWeightRates.of[seen] * off;
        seen += seen < kRates - 1;
        return found;
    };
    constexpr int kMostGain = 32767;
    if constexpr (kSets == 1) {
        learn_weights(0, decision, std::clamp(gain(0), -kMostGain, kMostGain));
    } else {
        const int error = target - kMix.squash[together_ + kMostMixed];
        int32_t* shares = &shares_[decision * kMostSets];
        const Ints4 moved = loaded<Ints4>(shares) + kStartShare +
                            ((loaded<Ints4>(mixed_) * (4 * error) + (1 << 17)) >> 18);
        store(shares, limited(moved, -kMostShare, kMostShare) - kStartShare);
        const Ints4 gains =
            limited(Ints4{gain(0), gain(1), gain(2), gain(3)}, -kMostGain, kMostGain);
        for (int set = 0; set < kMostSets; ++set) learn_weights(set, decision, gains[set]);
    }
    constexpr uint32_t kLeast = kLeastOfModel, kMost = 65536 - kLeastOfModel;
    // The probability of the bit that did not occur shrinks; its product fits 32 bits.
    const uint32_t wrong = bit ? 65536 : 0, sign = bit ? ~0u : 0;
    for (int from = 0; from < Models; from += 8) {
        const Unsigned8 used = loaded<Unsigned8>(used_ + from);
        const Unsigned8 probability = (used & 65535) ^ kHalfOfModel, uses = used >> 16;
        // A quotient that is not whole is 1 / divisor or more below the next integer. Rounding
        // moves it by 2^-6 / divisor at most, in any mode, so its whole part is right.
        const Floats8 divisor = __builtin_convertvector(Ints8(2 * uses + 3), Floats8);
        const Unsigned8 rate = Unsigned8(__builtin_convertvector(131072 / divisor, Ints8));
        Unsigned8 other = (probability ^ sign) - sign + wrong;
        other -= (other * rate + (bit ? 0 : 65535)) >> 16;
        Unsigned8 moved = ((other - wrong) ^ sign) - sign;
        moved = moved < kLeast ? Unsigned8{} + kLeast : moved;
        moved = moved > kMost ? Unsigned8{} + kMost : moved;
        const Unsigned8 next = uses < kMostModelUses ? uses + 1 : uses;
        const Unsigned8 stored = (moved ^ kHalfOfModel) | next << 16;
        for (int i = 0; i < 8; ++i) *lines_.at(from + i, decision) = stored[i];
    }
}

extern template class LogisticMixing<8>;
extern template class LogisticMixing<24>;
extern template class LogisticMixing<24, 11>;

}  // namespace mmp
