// The symbols of a block, for reading and writing on hosts and devices. Source: sections "Blocks",
// "Modes", "Transform" and "Levels" of docs/format/format.md.
//
// Coder::bit(model, value), Coder::mean_bit(model, other, value) and Coder::plain(count, value)
// encode or decode a value and return it; mean_bit() codes a bit by the mean of two models.
#pragma once

#include "shared/blocks/dependent.h"
#include "shared/blocks/models.h"
#include "shared/blocks/partition.h"
#include "shared/blocks/prediction.h"
#include "shared/tools.h"

namespace mmp {

// Codes the flag of a block whose split is not forced; `above` and `left` are the units beside it.
template <class Coder>
MMP_HD int code_flag(Coder& coder, const BlockTools& tools, const BlockPlace& block,
                     const Unit& above, const Unit& left, int flag) {
    const bool columns = may_split(block, kColumns), rows = may_split(block, kRows);
    if (!columns && !rows) return kLeaf;
    const int a = block.a, b = block.b;
    if (!coder.bit(split_model(a, b, split_context(a, b, above, left)), flag != kLeaf))
        return kLeaf;
    int by_rows = rows;
    if (columns == rows) {
        const int how = direction_model(a, b, direction_context(a, b, above, left));
        by_rows = coder.bit(how, !splits_columns(flag));
    }
    const int halved = by_rows ? kRows : kColumns, ternary = ternary_of(halved);
    if (!tools.ternary || !may_split(block, ternary)) return halved;
    return coder.bit(ternary_model(a, b, by_rows), is_ternary(flag)) ? ternary : halved;
}

// Codes whether the mode is one of the likely modes (most probable modes); if so, sets `mode`.
template <class Coder>
MMP_HD bool code_likely(Coder& coder, int size, const LikelyModes& likely, int& mode) {
    const int left = likely.left, above = likely.above;
    if (coder.bit(likely_model(size, left == above), mode == left))
        mode = left;
    else if (left != above && coder.bit(likely_model(size, 2), mode == above))
        mode = above;
    else
        return false;
    return true;
}

// The modes from earlier planes that the format allows for a block of the picture, as a bit mask.
MMP_HD constexpr uint64_t planes_modes(const BlockTools& tools, const BlockPlace& block) {
    if (!tools.cross_component || !(block.row || block.column)) return 0;
    const uint64_t wide = block.a + block.b >= kWideFromLog2;
    return uint64_t{1} << kCrossComponent | wide << kWideCrossComponent;
}

// Codes the mode of a block. Bit m of `allowed` is set if the format allows mode m; `context` is
// planes_context(). Coder::other(size, likely, allowed, mode) codes a mode that is not likely.
template <class Coder>
MMP_HD int code_mode(Coder& coder, int size, uint64_t allowed, const LikelyModes& likely,
                     int context, int mode) {
    if (allowed >> kCrossComponent && coder.bit(planes_model(size, context), from_planes(mode))) {
        if (!(allowed >> kWideCrossComponent)) return kCrossComponent;
        const bool wide =
            coder.bit(wide_cross_component_model(size), mode == kWideCrossComponent);
        return wide ? kWideCrossComponent : kCrossComponent;
    }
    if (!code_likely(coder, size, likely, mode)) mode = coder.other(size, likely, allowed, mode);
    coder.check_mode(mode, allowed);
    coder.models().count_mode(size, mode);
    return mode;
}

// Codes the transform type of a block whose mode belongs to `family`.
template <class Coder>
MMP_HD int code_type(Coder& coder, const BlockTools& tools, int a, int b, int family, int type) {
    if (tools.trained_transforms &&
        coder.bit(trained_type_model(a, b, family), type == kTrained))
        return kTrained;
    if (!sine_allowed(a, b) || !coder.bit(type_model(a, b, family), type != kCosine))
        return kCosine;
    const bool skips =
        tools.transform_skip && coder.bit(skip_model(a, b, family), type == kTransformSkip);
    return skips ? kTransformSkip : kSine;
}

// Codes the scan position of the last non-zero level.
template <class Coder>
MMP_HD_INLINE int code_last(Coder& coder, int a, int b, int last) {
    int group = 0;
    if (Coder::kWrites) group = floor_log2(uint32_t(last + 1));
    int coded = 0;
    while (coded < last_groups(a, b) && coder.bit(last_model(a, b, coded), coded < group)) ++coded;
    if (coded == 0) return 0;
    const int top = coder.bit(last_bit_model(coded), ((last + 1) >> (coded - 1)) & 1);
    const int rest = coder.plain(coded - 1, (last + 1) & ((1 << (coded - 1)) - 1));
    return (1 << coded) + (top << (coded - 1)) + rest - 1;
}

// Codes the remainder of a magnitude of at least 3. `models` is the index of the first binary model
// of the remainder.
template <class Coder>
MMP_HD_INLINE int code_remainder(Coder& coder, int models, int size) {
    int group = 0;
    if (Coder::kWrites) group = floor_log2(uint32_t(size - 2));
    int coded = 0;
    while (coded < kMostRemainder &&
           coder.bit(models + smaller(coded, kRemainders - 1), coded < group))
        ++coded;
    return (1 << coded) + coder.plain(coded, (size - 2) & ((1 << coded) - 1)) + 2;
}

// Indices of the binary models of one level.
struct LevelModels {
    int zero, fine_zero;  // fine_zero is -1 without fine contexts
    int one, two;
    int remainder;  // first model of the remainder

    // Without fine contexts; `sum` is a sum of magnitudes.
    MMP_HD static LevelModels coarse(int area, int place, int sum, int quantiser) {
        return {model_of_quantiser(zero_model(area, place, sum), quantiser), -1,
                model_of_quantiser(one_model(area, place, sum), quantiser),
                model_of_quantiser(two_model(area, place, sum), quantiser),
                remainder_models(area)};
    }
    // With fine contexts; `sum` is a class of sums.
    MMP_HD static LevelModels fine(int area, int direction, int frequency, int sum,
                                   int quantiser) {
        return {model_of_quantiser(zero_model(area, coarse_frequency(frequency), sum), quantiser),
                fine_zero_model(quantiser, direction, frequency, sum),
                fine_one_model(quantiser, frequency, sum),
                fine_two_model(quantiser, frequency, sum), fine_remainder_models(frequency, sum)};
    }
};

// Codes the levels of a block, given in the order of their places. A reader ignores `levels` and
// takes each level that is not 0.
//
// Scan describes the scan positions of the block: at(k); place(position), the index of the level;
// models(position, state); next(state, size), the state after a level; and add(position, size),
// which adds a level to the sums of the magnitudes around others.
template <class Scan, class Coder>
MMP_HD_INLINE void code_levels(Scan& scan, Coder& coder, int a, int b, const int16_t* levels) {
    int last = scan.count() - 1;
    if (Coder::kWrites)
        while (!levels[scan.place(scan.at(last))]) --last;
    last = code_last(coder, a, b, last);
    if (!coder.check(last < scan.count(), "Levels", "last place", last, scan.count() - 1)) return;
    int state = 0, size = 0;
    for (int k = last; k >= 0; --k, state = scan.next(state, size)) {
        const auto& position = scan.at(k);
        const LevelModels models = scan.models(position, state);
        int level = 0;
        if (Coder::kWrites) level = levels[scan.place(position)];
        const int given = level < 0 ? -level : level;
        size = 0;
        if (k < last && !(Scan::kFine ? coder.mean_bit(models.zero, models.fine_zero, given > 0)
                                      : coder.bit(models.zero, given > 0)))
            continue;
        const bool negative = coder.plain(1, level < 0);
        size = 1;
        if (coder.bit(models.one, given > 1))
            size = coder.bit(models.two, given > 2) ? code_remainder(coder, models.remainder, given)
                                                    : 2;
        if (!coder.check(size <= kMaxLevel, "Levels", "size of a level", size, kMaxLevel)) return;
        coder.take(scan.place(position), size, negative, Scan::kDependent ? quantiser_of(state) : 0,
                   Scan::kDependent);
        scan.add(position, size);
    }
}

}  // namespace mmp
