// Binary decisions whose probability is mixed from several models, each with a context of its own.
// Source: section "Mixed bits" of docs/format/format.md; after M. Mahoney, "Adaptive weighing of
// context models for lossless data compression", 2005.
#pragma once

#include <stdint.h>

#include <array>
#include <vector>

namespace mmp {

constexpr int kMixedModels = 8;
constexpr int kMixerRows = 32;       // sets of weights per decision and mixer
constexpr int kMostStretch = 2047;   // largest logarithm of odds, in 1/256
constexpr int kMostMixed = 2815;

struct MixTables {
    MixTables();
    int16_t stretch[4096];
    uint16_t squash[2 * kMostMixed + 1];
    uint16_t rate[256];
};
extern const MixTables kMix;

class MixedBits {
public:
    // Decisions are numbered from 0; `contexts` holds the number of contexts of each model.
    MixedBits(int decisions, const std::array<int, kMixedModels>& contexts);

    void select(const std::array<int, kMixedModels>& contexts, int first_row, int second_row) {
        for (int i = 0; i < kMixedModels; ++i) row_[i] = start_[i] + contexts[i] * decisions_;
        first_ = first_row, second_ = second_row;
    }

    // Returns the probability of a 1, in 1/65536.
    uint32_t predict(int decision);
    // Updates models and weights by the bit and returns it. Call predict() for the decision before.
    int learn(int decision, int bit);

private:
    struct Model {
        uint16_t probability, uses;
    };
    using Weights = std::array<int32_t, kMixedModels>;

    int decisions_;
    std::vector<Model> models_;
    std::vector<Weights> weights_[2];
    Model* start_[kMixedModels];
    Model* row_[kMixedModels];
    int first_ = 0, second_ = 0;
    int32_t stretched_[kMixedModels];
    uint32_t single_[2];
};

}  // namespace mmp
