// Predictions by weights that are fitted to the levels before, one set for each place in a block.
// Source: section "Levels of a stripe", "Fitted levels", of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/lossless/strip_fit.h"
#include "cpu/runtime/simd.h"

namespace mmp::jpeg {

class Fits {
public:
    static constexpr int kInputs = 32;  // the last ones are 0
    struct Inputs {
        alignas(32) int16_t of[kInputs] = {};
    };

    // `prior` has weights in 1/4096 for each place, or is nullptr: zeros. Sums fade by
    // 1 / 2^fading when weights are found.
    Fits(int places, int inputs, const int16_t (*prior)[kInputs], int64_t ridge, int fading)
        : inputs_(inputs),
          prior_(prior),
          ridge_(ridge),
          fading_(fading),
          places_(size_t(places)) {
        for (size_t i = 0; prior && i < places_.size(); ++i)
            for (int j = 0; j < inputs; ++j) places_[i].weights[j] = 4 * prior[i][j];
    }

    MMP_INLINE int predict(int place, const Inputs& inputs) const {
        const int32_t* weights = places_[place].weights;
        int64_t sum = 0;
        for (int i = 0; i < kInputs; ++i) sum += int64_t{weights[i]} * inputs.of[i];
        return int(sum >> kWeightBits);
    }
    MMP_INLINE void learn(int place, const Inputs& inputs, int target) {
        Place& own = places_[place];
        own.is_new = true;
        for (int i = 0; i < inputs_; ++i) {
            const int32_t input = inputs.of[i];
            for (int j = 0; j < kInputs; ++j) own.sums[i][j] += input * inputs.of[j];
            own.sums[i][kInputs] += int64_t{input} * target;
        }
    }
    // Finds the weights of all places that have learned since.
    void find_weights(StripFits& fits);

private:
    struct Place {
        int64_t sums[kInputs][kInputs + 1] = {};
        int32_t weights[kInputs] = {};
        bool is_new = false;
    };

    const int inputs_;
    const int16_t (*const prior_)[kInputs];
    const int64_t ridge_;
    const int fading_;
    std::vector<Place> places_;
};

}  // namespace mmp::jpeg
