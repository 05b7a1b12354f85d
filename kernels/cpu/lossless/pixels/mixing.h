// Binary decisions of repeating pixels: models of one context each, mixed by weights. Source:
// section "Repeating pixels", "Mixing", of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cpu/entropy/logistic_mixing.h"
#include "cpu/lossless/two_values/mixing.h"

namespace mmp::pixels {

constexpr int kMostUses = 250;     // of a quick model
constexpr int kMostWeight = 786432;  // 3, in 2^-18
constexpr int kUnitWeight = 262144;

// A hash of the values that precede, and one more.
MMP_INLINE uint32_t chained(uint32_t hash, uint32_t value) {
    hash = (hash ^ value) * 0x9E3779B1u;
    return hash ^ hash >> 15;
}
template <class... Values>
MMP_INLINE uint32_t hash_of(uint32_t first, Values... values) {
    ((first = chained(first, uint32_t(values))), ...);
    return first;
}

// The logarithm of odds of a probability, in 1/256.
MMP_INLINE int stretched(int one) { return kMix.stretch[(one ^ 0x8000) >> 4]; }

// A model that nearly follows its first bits: probability xor 32768, then its uses.
struct QuickModel {
    uint16_t stored = 0;
    uint16_t uses = 0;

    MMP_INLINE int one() const { return stored ^ 0x8000; }
    MMP_INLINE int odds() const { return kMix.stretch[stored >> 4]; }
    MMP_INLINE void learn(int bit) {
        const int now = one();
        const int64_t moved =
            now + ((int64_t{(bit << 16) - now} * (131072 / (2 * uses + 3))) >> 16);
        stored = uint16_t(std::clamp<int64_t>(moved, 32, 65504) ^ 0x8000);
        uses += uses < kMostUses;
    }
};

// Returns the logarithm of odds that a model gives, through a map of its uses while they are few.
MMP_INLINE int counted_odds(const QuickModel& model, SlowModel* maps, SlowModel*& used) {
    used = nullptr;
    if (model.uses == 0) return 0;
    if (model.uses >= 8) return model.odds();
    used = &maps[model.uses * 16 + (model.one() >> 12)];
    return used->odds();
}

// Returns how fast a row of weights learns that saw `seen` bits.
MMP_INLINE int weight_rate(int seen) { return 56 + 3960 / (12 + seen); }

// A mixture of inputs, which are logarithms of odds in 1/256. Each set selects a row of weights.
template <int Inputs, int Sets>
class Mixer {
public:
    // `rows` are those of each set, `start` is the first weight in 2^-18.
    Mixer(const std::array<int, Sets>& rows, int start, int slower = 0) : slower_(slower) {
        int all = 0;
        for (int set = 0; set < Sets; ++set) first_[set] = all, all += rows[set];
        weights_.assign(size_t(all) * Inputs, start);
        seen_.assign(all, 0);
    }

    // Returns the probability of a 1.
    MMP_INLINE int predict(const int32_t* inputs, const std::array<int, Sets>& rows) {
        inputs_ = inputs;
        int sum = 0;
        for (int set = 0; set < Sets; ++set) {
            row_[set] = first_[set] + rows[set];
            const int32_t* weights = &weights_[size_t(row_[set]) * Inputs];
            for (int i = 0; i < Inputs; ++i) sum += (weights[i] >> 6) * inputs[i];
        }
        mixed_ = std::clamp(sum >> 12, -kMostMixed, kMostMixed);
        return kMix.squash[mixed_ + kMostMixed];
    }
    MMP_INLINE int mixed() const { return mixed_; }

    MMP_INLINE void learn(int bit) {
        const int error = (bit << 16) - kMix.squash[mixed_ + kMostMixed];
        for (int set = 0; set < Sets; ++set) {
            const int gain = (weight_rate(seen_[row_[set]]) * error) >> (8 + slower_);
            seen_[row_[set]] += seen_[row_[set]] < 255;
            int32_t* weights = &weights_[size_t(row_[set]) * Inputs];
            for (int i = 0; i < Inputs; ++i)
                weights[i] = std::clamp(weights[i] + ((inputs_[i] * gain + 1024) >> 11),
                                        -kMostWeight, kMostWeight);
        }
    }

private:
    const int slower_;
    std::array<int, Sets> first_, row_{};
    std::vector<int32_t> weights_;
    std::vector<uint8_t> seen_;
    const int32_t* inputs_ = nullptr;
    int mixed_ = 0;
};

}  // namespace mmp::pixels
