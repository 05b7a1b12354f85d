// How a bit gets its probability in each form: by one model, by 8 or by 24 that are mixed.
// Source: section "Levels of a stripe", of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <array>
#include <vector>

#include "cpu/entropy/logistic_mixing.h"
#include "cpu/runtime/simd.h"

namespace mmp::jpeg {

template <int Models>
using Contexts = std::array<uint32_t, Models>;
using Rows = std::array<int, kMostSets>;

// One model for each pair of a context and a decision.
class OneModel {
public:
    OneModel(const Decisions& decisions, const std::array<int, 1>& contexts, const Rows&)
        : decisions_(decisions.count), models_(size_t(contexts[0]) * decisions_) {}

    MMP_INLINE void select(const Contexts<1>& contexts, const Rows&) {
        own_ = &models_[size_t(contexts[0]) * decisions_];
    }
    MMP_INLINE int predict(int decision) { return probability(own_[decision]); }
    MMP_INLINE void learn(int decision, int bit) {
        uint32_t& model = own_[decision];
        const uint32_t uses = model >> 16;
        const int one = probability(model);
        const int moved = one + int((int64_t{(bit << 16) - one} * kMix.rate[uses]) >> 16);
        const auto limited =
            uint32_t(std::clamp(moved, kLeastOfModel, 65536 - kLeastOfModel));
        model = (limited ^ kHalfOfModel) | (uses < kMostModelUses ? uses + 1 : uses) << 16;
    }
    void start(uint32_t context, int decision, int one, int uses) {
        models_[size_t(context) * decisions_ + decision] =
            (uint32_t(one) ^ kHalfOfModel) | uint32_t(uses) << 16;
    }
    void start_weights(int, int) {}

private:
    static MMP_INLINE int probability(uint32_t model) {
        return int((model & 65535) ^ kHalfOfModel);
    }

    int decisions_;
    ZeroedLines<uint32_t> models_;
    uint32_t* own_ = nullptr;
};

template <int Models>
struct MixerOf { using Type = LogisticMixing<Models>; };
template <>
struct MixerOf<1> { using Type = OneModel; };
template <int Models>
using Mixer = typename MixerOf<Models>::Type;

}  // namespace mmp::jpeg
