// Binary decisions whose probability is mixed from several models, each with a context of its own.
// Source: section "Mixed bits" of docs/format/format.md; after M. Mahoney, "Adaptive weighing of
// context models for lossless data compression", 2005.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <array>

#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

constexpr int kMixedModels = 8;
constexpr int kMixerRows = 32;       // sets of weights per decision and mixer
constexpr int kMostStretch = 2047;   // largest logarithm of odds, in 1/256
constexpr int kMostMixed = 2815;
constexpr int kMixedOdds = 2 * kMostMixed + 1;

struct MixTables {
    MixTables();
    int16_t stretch[4096];  // by the upper bits of a stored probability
    uint16_t squash[kMixedOdds];
    uint16_t rate[256];
};
extern const MixTables kMix;

class MixedBits {
public:
    // Decisions are numbered from 0; `contexts` holds the number of contexts of each model. What
    // belongs to the first 16 decisions lies together, so these should be the most frequent ones.
    MixedBits(int decisions, const std::array<int, kMixedModels>& contexts);

    MMP_INLINE void select(const std::array<int, kMixedModels>& contexts, int first_row,
                           int second_row) {
        for (int i = 0; i < kMixedModels; ++i) row_[i] = start_[i] + contexts[i] * stride_;
        weights_of_[0] = weights_row(0, first_row), weights_of_[1] = weights_row(1, second_row);
    }

    // Returns the place in kMix.squash of the probability of a 1.
    MMP_INLINE int predict(int decision);
    // Updates models and weights by the bit. Call predict() for the decision before.
    MMP_INLINE void learn(int decision, int bit);

private:
    // A probability of 1 in the lower 16 bits, and in the upper ones how often it was used. The
    // probability is stored as its difference from 32768 by exclusive or, so that 0 is the start.
    using Model = uint32_t;
    static constexpr uint32_t kHalf = 32768;

    static constexpr uint32_t kLeastProbability = 32, kMostUses = 255;
    static constexpr int32_t kMostWeight = (1 << 17) - 1;

    size_t weights_count() const { return size_t(stride_) * kMixerRows * kMixedModels; }
    int32_t* weights_row(int set, int row) const {
        return &weights_[set][size_t(row) * stride_ * kMixedModels];
    }

    int stride_;  // decisions of a context, padded
    ZeroedLines<Model> models_;
    ZeroedLines<int32_t> weights_[2];
    Model* start_[kMixedModels];
    Model* row_[kMixedModels];
    int32_t* weights_of_[2];
    alignas(32) int32_t stretched_[kMixedModels];
    alignas(32) Model used_[kMixedModels];
    int32_t single_[2];
};

MMP_INLINE int MixedBits::predict(int decision) {
    Model m[kMixedModels];
    for (int i = 0; i < kMixedModels; ++i) m[i] = row_[i][decision];
    store(used_, Unsigned8{m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7]});
    const auto stretched = [&](int i) { return kMix.stretch[uint16_t(m[i]) >> 4]; };
    const Shorts8 s = {stretched(0), stretched(1), stretched(2), stretched(3),
                       stretched(4), stretched(5), stretched(6), stretched(7)};
    const Ints8 wide = __builtin_convertvector(s, Ints8);
    store(stretched_, wide);
    const Ints8 a = loaded<Ints8>(weights_of_[0] + decision * kMixedModels) * wide;
    const Ints8 b = loaded<Ints8>(weights_of_[1] + decision * kMixedModels) * wide;
    const Ints4 sums_a = __builtin_shufflevector(a, a, 0, 1, 2, 3) +
                         __builtin_shufflevector(a, a, 4, 5, 6, 7);
    const Ints4 sums_b = __builtin_shufflevector(b, b, 0, 1, 2, 3) +
                         __builtin_shufflevector(b, b, 4, 5, 6, 7);
    const Ints4 pairs = __builtin_shufflevector(sums_a, sums_b, 0, 4, 1, 5) +
                        __builtin_shufflevector(sums_a, sums_b, 2, 6, 3, 7);
    Ints4 mixed = (pairs + __builtin_shufflevector(pairs, pairs, 2, 3, 2, 3)) >> 16;
    mixed = mixed < -kMostMixed ? Ints4{} - kMostMixed : mixed;
    mixed = mixed > kMostMixed ? Ints4{} + kMostMixed : mixed;
    const int32_t x = mixed[0], y = mixed[1];
    single_[0] = kMix.squash[x + kMostMixed];
    single_[1] = kMix.squash[y + kMostMixed];
    return ((x + y) >> 1) + kMostMixed;
}

MMP_INLINE void MixedBits::learn(int decision, int bit) {
    for (int set = 0; set < 2; ++set) {
        int32_t* weights = weights_of_[set] + decision * kMixedModels;
        const int32_t error = 5 * ((bit << 16) - single_[set]);
        const Ints8 change = (loaded<Ints8>(stretched_) * error + (1 << 16)) >> 17;
        Ints8 w = loaded<Ints8>(weights) + change;
        w = w < -kMostWeight ? Ints8{} - kMostWeight : w;
        store(weights, w > kMostWeight ? Ints8{} + kMostWeight : w);
    }
    // The probability of the bit that did not occur shrinks; its product fits 32 bits.
    const uint32_t wrong = bit ? 65536 : 0, sign = bit ? ~0u : 0;
    const Unsigned8 used = loaded<Unsigned8>(used_);
    const Unsigned8 probability = (used & 65535) ^ kHalf, uses = used >> 16;
    // A quotient that is not whole is 1 / divisor or more below the next integer. Rounding moves it
    // by 2^-6 / divisor at most, in any mode, so without its fraction it is kMix.rate[uses].
    const Floats8 divisor = __builtin_convertvector(Ints8(2 * uses + 3), Floats8);
    const Unsigned8 rate = Unsigned8(__builtin_convertvector(131072 / divisor, Ints8));
    Unsigned8 other = (probability ^ sign) - sign + wrong;
    other -= (other * rate + (bit ? 0 : 65535)) >> 16;
    Unsigned8 moved = ((other - wrong) ^ sign) - sign;
    moved = moved < kLeastProbability ? Unsigned8{} + kLeastProbability : moved;
    moved = moved > 65536 - kLeastProbability ? Unsigned8{} + (65536 - kLeastProbability) : moved;
    const Unsigned8 next = uses < kMostUses ? uses + 1 : uses;
    const Unsigned8 stored = (moved ^ kHalf) | next << 16;
    for (int i = 0; i < kMixedModels; ++i) row_[i][decision] = stored[i];
}

}  // namespace mmp
