// The decisions on the levels of a stripe, and their contexts.
// Source: section "Levels of a stripe", of docs/format/format.md.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu/jpeg/levels/bits.h"
#include "cpu/jpeg/levels/block.h"
#include "cpu/jpeg/levels/fits.h"
#include "cpu/jpeg/levels/mixers.h"
#include "cpu/jpeg/levels/near.h"
#include "cpu/jpeg/levels/scales.h"
#include "cpu/jpeg/levels/size_sums.h"
#include "cpu/jpeg/levels/tables.h"
#include "cpu/runtime/errors.h"

namespace mmp::jpeg {

[[noreturn, gnu::noinline]] inline void refuse_level(int value) {
    throw CorruptPayload("level " + std::to_string(value) + " does not fit 16 bits",
                         "Levels of a stripe");
}

// The first contexts of a list, as many as a form has models.
template <int Models>
MMP_INLINE Contexts<Models> first_of(const Contexts<24>& all) {
    Contexts<Models> some;
    std::copy_n(all.begin(), Models, some.begin());
    return some;
}
// Weights of the fitted first level before any are found: its followed prediction.
constexpr int16_t kFirstPrior[1][Fits::kInputs] = {
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4096}};

// A prediction of the first level of a block whose weights follow its error (NLMS).
class FirstLevelWeights {
public:
    static constexpr int kInputs = 12, kMost = 4095;

    static MMP_INLINE int16_t limit(int value) { return int16_t(limited(value, -kMost, kMost)); }

    MMP_INLINE int predict(const int16_t* inputs) const {
        int64_t sum = 0;
        for (int i = 0; i < kInputs; ++i) sum += int64_t{inputs[i]} * weights_[i];
        return int(sum >> 16);
    }
    // The error is that of the prediction.
    MMP_INLINE void learn(const int16_t* inputs, int error) {
        int64_t energy = 4096;
        for (int i = 0; i < kInputs; ++i) energy += int64_t{inputs[i]} * inputs[i];
        for (int i = 0; i < kInputs; ++i) {
            const int64_t step = (int64_t{error} * inputs[i] * 256) / energy;
            weights_[i] = std::clamp(weights_[i] + step, -kMostWeight, kMostWeight);
        }
    }

private:
    static constexpr int64_t kMostWeight = 1 << 24;
    int64_t weights_[kInputs] = {20000, 20000, 12768, 12768};
};

// The first level of a block, predicted. Predictions are in 1/8, `off` and `median` in whole levels.
struct FirstLevel {
    int base, by_above, by_left;  // predictions
    int followed, predicted;      // by following weights, and by those of the form
    int whole, part;              // of `predicted`
    int median, north;            // levels
    int off_above, off_left, off_median;
    int west_difference, north_difference, corner_difference, next_difference;
    int earlier = 0;  // difference of an earlier component
    int corners;      // how much the levels around differ
};

template <int Form, class Bits>
class StripeCoder {
public:
    static constexpr int kModels = Form == 1 ? 1 : Form == 2 ? 8 : 24;
    static constexpr bool kFits = Form == 3;
    using Own = Mixer<kModels>;

    StripeCoder(const Picture& picture, int first_row, int rows);

    int components() const { return int(stripe_.size()); }
    int rows(int number) const { return stripe_[number].rows; }
    void begin_component(int number);
    MMP_INLINE void code_row(Bits& bits, int number, int row) {
        const StripeComponent& own = stripe_[number];
        for (int column = 0; column < own.columns; ++column) {
            code_block(bits, number, row, column);
            if (kFits && (column % 64 == 63 || column + 1 == own.columns))
                first_fits_[own.kind].find_weights(*solver_);
        }
        if (kFits) {
            level_fits_[own.kind].find_weights(*solver_);
            size_fits_[own.kind].find_weights(*solver_);
        }
    }

private:
    MMP_INLINE void code_block(Bits& bits, int number, int row, int column);
    MMP_INLINE int code_first(Bits& bits, const Around& around, int number, int row, int column,
                              int given);
    MMP_INLINE FirstLevel predict_first(const Around& around, int number, int row, int column,
                                        Fits::Inputs& inputs) const;
    MMP_INLINE void add_fitted_inputs(const Around& around, int number, FirstLevel& first,
                                      Fits::Inputs& inputs) const;
    MMP_INLINE int code_first_sign(Bits& bits, const Around& around, const FirstLevel& first,
                                   int size, int given);
    MMP_INLINE int code_end(Bits& bits, const Around& around, int number, int column, int given);
    MMP_INLINE int code_level(Bits& bits, const Around& around, int number, int k, int z, int end,
                              int given);

    MMP_INLINE int code_sign(Bits& bits, const Around& around, const Near& near,
                             const Beside& beside, const int16_t* inputs, int fitted, int size,
                             int given);
    MMP_INLINE void set_level_inputs(const Around& around, const Near& near, const Beside& beside,
                                     int16_t* inputs) const;
    static int luma_mean(const Around& around, int k) {
        int sum = 0;
        for (int i = 0; i < around.lumas; ++i) sum += around.luma[i][k];
        return around.lumas ? 4 * sum / around.lumas : 0;
    }
    // Selects the models of the bits of large sizes.
    MMP_INLINE void select_tails(uint32_t place, uint32_t step, uint32_t a, uint32_t b, uint32_t c) {
        const auto joined = [&](uint32_t x, uint32_t y) { return (place * 1024 + x) * 1024 + y; };
        tails_->select({joined(0, 0), joined(step, 0), joined(1, std::min(a, 127u) / 2),
                        joined(2, std::min(b, 127u) / 2), joined(3, std::min(c / 16, 63u)),
                        joined(4, step / 2), joined(5, uint32_t(coarse(int(c)))),
                        joined(6 + std::min(a, 1000u), std::min(b, 1000u))},
                       {kind_, 0, 0, 0});
    }

    template <class Models>
    MMP_INLINE int bit(Bits& bits, Models& models, int decision, int given) {
        int one = models.predict(decision);
        if (kModels > 1) one = std::clamp(one, 32, 65504);  // one model stays in these limits
        const int found = bits.code(uint32_t(one), given);
        models.learn(decision, found);
        return found;
    }
    template <class Models>
    MMP_INLINE int code_size(Bits& bits, Models& models, int given, bool is_last);
    MMP_INLINE int code_tail(Bits& bits, int digits, int given);

    static constexpr int kMostDigits = 15, kUnary = 7;

    // Bits of a large size below its first one.
    struct TailModel {
        uint16_t one = 32768;
    };

    std::vector<StripeComponent> stripe_;
    Own sizes_, ends_, firsts_, first_signs_, signs_;
    std::optional<LogisticMixing<8>> tails_;
    TailModel tail_models_[kKinds][16][16];
    FirstLevelWeights first_weights_[kMostComponents];
    std::vector<Fits> level_fits_, size_fits_, first_fits_;
    std::unique_ptr<StripFits> solver_;
    std::optional<BorderRow> borders_, slopes_;
    std::optional<SizeSums> size_sums_;  // of forms without fits
    int kind_ = 0;
    int16_t levels_[24 + kBlockLevels + 24] = {};  // of this block, with zeros around
    int16_t* const own_ = levels_ + 24;
    int steps_[kBlockLevels];
};

}  // namespace mmp::jpeg
