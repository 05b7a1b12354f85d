// Binary decisions whose probability is the mean of two models, each with a context of its own.
// Source: section "Mixed bits 2" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <array>

#include "cpu/entropy/lines.h"

namespace mmp {

class MeanBits {
public:
    // `contexts` holds the number of contexts of each model, 0 for a hashed one.
    MeanBits(int decisions, const std::array<int, 2>& contexts) : lines_(decisions, contexts) {}

    MMP_INLINE void select(const std::array<uint32_t, 2>& contexts) { lines_.select(contexts); }

    // Returns the probability of a 1, in 1/65536.
    MMP_INLINE int predict(int decision) {
        lines_.find(decision);
        for (int i = 0; i < 2; ++i) models_[i] = lines_.at(i, decision);
        return int((probability(*models_[0]) + probability(*models_[1])) >> 1);
    }
    // Updates the models by the bit. Call predict() for the decision before.
    MMP_INLINE void learn(int bit) {
        for (uint32_t* model : models_) {
            const uint32_t uses = *model >> 16;
            const int one = int(probability(*model));
            const int moved = one + int((int64_t{(bit << 16) - one} * kMix.rate[uses]) >> 16);
            const uint32_t limited =
                uint32_t(std::clamp(moved, kLeastOfModel, 65536 - kLeastOfModel));
            *model = (limited ^ kHalfOfModel) | (uses < kMostModelUses ? uses + 1 : uses) << 16;
        }
    }

private:
    static MMP_INLINE uint32_t probability(uint32_t model) { return (model & 65535) ^ kHalfOfModel; }

    ModelLines<2> lines_;
    uint32_t* models_[2] = {};
};

}  // namespace mmp
