// Coding the first level of a block: as its difference from a prediction.
// Source: section "Levels of a stripe", "First levels", of docs/format/format.md.
#pragma once

#include "cpu/jpeg/levels/stripe_coder.h"

namespace mmp::jpeg {

template <int Form, class Bits>
MMP_INLINE FirstLevel StripeCoder<Form, Bits>::predict_first(const Around& around, int number,
                                                                  int row, int column,
                                                                  Fits::Inputs& inputs) const {
    const StripeComponent& own = stripe_[number];
    FirstLevel first;
    const int west = around.left[0], north = around.above[0], corner = around.above_left[0];
    const int low = std::min(west, north), high = std::max(west, north);
    first.median = corner >= high ? low : corner <= low ? high : west + north - corner;
    first.north = north;
    first.corners = abs(west - corner) + abs(north - corner);
    const int base = first.base = 4 * (west + north);
    const bool none = !around.has_above && !around.has_left;
    first.by_above = around.has_above ? borders_->from_above(0, 31) : none ? 0 : 8 * west;
    first.by_left = around.has_left ? borders_->from_left(0, 31) : none ? 0 : 8 * north;
    const auto difference = [&](bool has, ptrdiff_t back) {
        return has ? int{own.differences[around.place - back]} : 0;
    };
    first.west_difference = difference(around.has_left, 1);
    first.north_difference = difference(around.has_above, own.columns);
    first.corner_difference =
        difference(around.has_left && around.has_above, own.columns + 1);
    first.next_difference =
        difference(around.has_above && column + 1 < own.columns, own.columns - 1);
    const int luma_difference = number ? stripe_[0].differences[around.luma_place] : 0;
    first.earlier =
        around.before ? stripe_[1].differences[around.place] : abs(luma_difference);
    int i = 0;
    for (const int value : {first.by_above - base,
                            first.by_left - base,
                            8 * first.median - base,
                            8 * around.above_right[0] - base,
                            8 * north - base,
                            8 * corner - base,
                            8 * first.west_difference,
                            8 * first.north_difference,
                            around.before ? 8 * first.earlier : 0,
                            8 * luma_difference,
                            8 * (column > 1 ? around.left_left[0] : west) - base,
                            8 * (row > 1 ? around.above_above[0] : north) - base})
        inputs.of[i++] = FirstLevelWeights::limit(value);
    first.followed = first.predicted = base + first_weights_[number].predict(inputs.of);
    if (kFits) add_fitted_inputs(around, number, first, inputs);
    first.predicted = limited(first.predicted, -8 * 32767, 8 * 32767);
    first.whole = (first.predicted + 4) >> 3;
    first.part = first.predicted - 8 * first.whole;
    first.off_above = first.by_above / 8 - first.whole;
    first.off_left = first.by_left / 8 - first.whole;
    first.off_median = first.median - first.whole;
    return first;
}

// Adds what fitted weights predict by.
template <int Form, class Bits>
MMP_INLINE void StripeCoder<Form, Bits>::add_fitted_inputs(const Around& around, int number,
                                                                FirstLevel& first,
                                                                Fits::Inputs& inputs) const {
    const int base = first.base;
    const auto set = [&](int i, int value) { inputs.of[i] = FirstLevelWeights::limit(value); };
    const auto change = [](const int16_t* levels, bool has, ptrdiff_t blocks) {
        return has ? 8 * (levels[0] - levels[-blocks * kBlockLevels]) : 0;
    };
    set(12, around.has_above ? slopes_->from_above(0, 31) - base : 0);
    set(13, around.has_left ? slopes_->from_left(0, 31) - base : 0);
    set(14, first.followed - base);
    if (number) {
        const ptrdiff_t across = stripe_[0].columns;
        set(15, change(around.luma[0], around.has_left, 1));
        set(16, change(around.luma[0], around.luma_place >= size_t(across), across));
    }
    if (around.before) {
        set(17, change(around.before, around.has_left, 1));
        set(18, change(around.before, around.has_above, stripe_[number].columns));
    }
    set(19, 8 * first.next_difference);
    first.predicted = base + first_fits_[kind_].predict(0, inputs);
}

template <int Form, class Bits>
MMP_INLINE int StripeCoder<Form, Bits>::code_first(Bits& bits, const Around& around, int number,
                                                        int row, int column, int given) {
    StripeComponent& own = stripe_[number];
    Fits::Inputs inputs;
    const FirstLevel first = predict_first(around, number, row, column, inputs);
    const int spread =
        std::max({abs(first.off_above), abs(first.off_left), abs(first.off_median)});
    const int weighted = 2 * (abs(first.west_difference) + abs(first.north_difference)) +
                         abs(first.corner_difference) + abs(first.next_difference);
    const uint32_t kind = uint32_t(kind_);
    const auto step = [](int size) { return uint32_t(coarse(size)); };
    const auto size = [&](int value) { return step(4 * abs(value)); };
    const auto joined = [&](uint32_t a, uint32_t b) { return (kind * 64 + a) * 64 + b; };
    const uint32_t both = step(weighted + spread), spreads = step(4 * spread);
    const uint32_t differences = step(2 * weighted), earlier = size(first.earlier);
    const int counts = around.left_count + around.above_count;
    firsts_.select(
        first_of<kModels>({kind * kFirstSteps + both,
                           joined(differences, 0),
                           joined(spreads, 0),
                           joined(differences / 4, spreads / 4),
                           joined(earlier / 3, both / 3),
                           joined(step(2 * counts) / 3, spreads / 3),
                           joined(step(first.corners), 0),
                           joined(uint32_t(std::min(abs(first.west_difference), 12)),
                                  uint32_t(std::min(abs(first.north_difference), 12))),
                           joined(differences, spreads),
                           joined(both, earlier),
                           joined(size(first.off_above), size(first.off_left)),
                           joined(size(first.next_difference), size(first.corner_difference)),
                           joined(both, uint32_t(abs(first.part))),
                           joined(step(2 * around.left_count), step(2 * around.above_count)),
                           joined(size(first.off_median), differences),
                           joined(step(abs(first.by_above - first.by_left)), differences),
                           joined(earlier, spreads),
                           joined(size(first.west_difference), size(first.off_left)),
                           joined(size(first.north_difference), size(first.off_above)),
                           joined(step(abs(first.followed - first.predicted)), both)}),
        {int(kind * 32 + both), int(kind * 32 + differences), int(kind), int(kind * 32 + spreads)});
    if (kFits) select_tails(kKinds * kBlockLevels + kind, both, differences, spreads, 0);
    int found = code_size(bits, firsts_, abs(given - first.whole), false);
    if (found && code_first_sign(bits, around, first, found, given < first.whole)) found = -found;
    const int value = first.whole + found;
    if (value < -32768 || value > 32767) refuse_level(value);
    first_weights_[number].learn(inputs.of, 8 * value - first.followed);
    if (kFits)
        first_fits_[kind_].learn(0, inputs, FirstLevelWeights::limit(8 * value - first.base));
    own.differences[around.place] = int16_t(limited(found, -32768, 32767));
    return value;
}

// Whether the difference is negative.
template <int Form, class Bits>
MMP_INLINE int StripeCoder<Form, Bits>::code_first_sign(Bits& bits, const Around& around,
                                                             const FirstLevel& first, int size,
                                                             int given) {
    const uint32_t kind = uint32_t(kind_), part = uint32_t(first.part + 4);
    const auto joined = [&](uint32_t a, uint32_t b) { return (kind * 64 + a) * 64 + b; };
    const auto near = [](int value, int most) {
        return uint32_t(limited(value, -most, most) + most);
    };
    first_signs_.select(
        first_of<kModels>({kind * 8 + part,
                           joined(near(first.off_above, 8), 0),
                           joined(near(first.off_left, 8), 0),
                           joined(near(first.off_median, 8), 0),
                           joined(sign_of(first.west_difference), sign_of(first.north_difference)),
                           joined(around.before ? near(first.earlier, 8) : 20, 0),
                           joined(uint32_t(std::min(size, 3)), part),
                           joined(near(first.off_above, 4), near(first.off_left, 4)),
                           joined(near(first.off_median, 4), near(first.north - first.whole, 4)),
                           joined(near(first.west_difference, 4), near(first.north_difference, 4)),
                           joined(near(first.followed - first.predicted, 16), 0)}),
        {int(kind), 0, 0, 0});
    return bit(bits, first_signs_, 0, given);
}

}  // namespace mmp::jpeg
