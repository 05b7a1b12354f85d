// How a bit gets its probability in each form: by one model, by 8 or by 24 that are mixed.
// Source: section "Levels of a stripe", of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <array>
#include <vector>

#include "cpu/entropy/logistic_mixing.h"
#include "cpu/runtime/simd.h"
#include "shared/entropy/binary.h"

namespace mmp::jpeg {

template <int Models>
using Contexts = std::array<uint32_t, Models>;
using Rows = std::array<int, kMostSets>;

// One model for each pair of a context and a decision.
class OneModel {
public:
    OneModel(const Decisions& decisions, const std::array<int, 1>& contexts, const Rows&)
        : decisions_(decisions.count),
          models_(size_t(contexts[0]) * decisions_, uint32_t{kBitTotal / 2} << kOne) {}

    MMP_INLINE void select(const Contexts<1>& contexts, const Rows&) {
        own_ = &models_[size_t(contexts[0]) * decisions_];
    }
    MMP_INLINE int predict(int decision) { return int(own_[decision] >> kOne); }
    MMP_INLINE void learn(int decision, int bit) {
        uint32_t& model = own_[decision];
        const uint32_t uses = model & kUses, target = bit ? kBitTotal - kLeast : kLeast;
        // Products are right modulo 2^32, and so are probabilities.
        const uint32_t moved = (target - (model >> kOne)) * kMix.rate[uses];
        model += (moved >> kOne << kOne) + (uses < kMostModelUses);
    }
    void start(uint32_t context, int decision, int one, int uses) {
        models_[size_t(context) * decisions_ + decision] = uint32_t(one) << kOne | uint32_t(uses);
    }
    void start_weights(int, int) {}

private:
    static constexpr int kOne = 16;  // place of the probability of a 1 in a model
    static constexpr uint32_t kUses = 255, kLeast = 32;

    int decisions_;
    std::vector<uint32_t> models_;
    uint32_t* own_ = nullptr;
};

template <int Models>
struct MixerOf { using Type = LogisticMixing<Models>; };
template <>
struct MixerOf<1> { using Type = OneModel; };
// More lines need more memory than stripes of a picture of some megapixels should take.
template <>
struct MixerOf<24> { using Type = LogisticMixing<24, 11>; };
template <int Models>
using Mixer = typename MixerOf<Models>::Type;

}  // namespace mmp::jpeg
