// Scanning and coding the quantised coefficients (levels) of a block.
// Source: section "Levels" of docs/format/format.md.
#pragma once

#include <stdint.h>
#include <string.h>

#include <array>
#include <vector>

#include "cpu/blocks/models.h"
#include "cpu/runtime/simd.h"
#include "shared/blocks/dependent.h"

namespace mmp {

// The scan of a block shape: its coded coefficients from low to high frequencies.
struct Scan {
    int rows, columns, count;
    std::vector<uint16_t> place;   // index in the array of levels
    std::vector<uint16_t> margin;  // index in an array that is padded by two rows and two columns
    std::vector<uint8_t> frequency_class;
    // Fine contexts by Family of the mode: kFrequencies * direction + class of the frequency.
    std::vector<uint8_t> fine_place[kFamilies];
    std::vector<uint16_t> number;  // scan position, from 1, by index in the array of levels
    // The scan positions with fine contexts: `place`, `margin`, and the first binary models of the
    // level.
    struct Step {
        uint16_t place, margin, zero, fine_zero, one, remainder;
    };
    std::vector<Step> fine_steps[kFamilies];
    // Encoder only. The five neighbours of higher frequency of each level. A neighbour in the
    // level's own group of kGroup scan positions is stored as twice the number of levels between;
    // any other by its scan position. `span` is the largest distance between neighbours in scan
    // order.
    static constexpr int kGroup = 8;
    struct Neighbours {
        uint8_t recent[5], recents = 0, olders = 0;
        uint16_t older[5];
    };
    std::vector<Neighbours> neighbours;
    int span = 0;
};
extern const std::array<Scan, kShapes> scans;
inline const Scan& scan_of(int a, int b) { return scans[shape_number(a, b)]; }

// For each coefficient, the sum of the magnitudes of its five neighbours of higher frequency, each
// clipped to 3. Adding a level updates the sums of the coefficients that have it as a neighbour.
class MagnitudeSums {
public:
    static constexpr int kStride = kCodedSide + 2;

    explicit MagnitudeSums(const Scan& scan) { memset(value_, 0, kStride * (scan.rows + 2)); }
    // Indices are those of Scan::margin.
    MMP_INLINE int at(int margin) const { return value_[2 * kStride + 2 + margin]; }
    MMP_INLINE void add(int margin, int size) {
        const uint8_t limited = uint8_t(smaller(size, 3));
        uint8_t* v = value_ + 2 * kStride + 2 + margin;
        add_two(v - 2, limited);
        add_two(v - kStride - 1, limited);
        v[-2 * kStride] = uint8_t(v[-2 * kStride] + limited);
    }

private:
    static MMP_INLINE void add_two(uint8_t* to, uint8_t limited) {
        uint16_t both;
        memcpy(&both, to, sizeof both);
        both = uint16_t(both + 257 * limited);
        memcpy(to, &both, sizeof both);
    }

    uint8_t value_[kStride * kStride];
};

// Returns one more than the last scan position whose magnitude exceeds `least`, or 0 if none does.
// `numbers` is Scan::number; `values` are coefficients or levels.
int end_above(const int16_t* values, const uint16_t* numbers, int count, int32_t least);

void dequantise(const int16_t* levels, int a, int b, const BlockTools& tools,
                int16_t* coefficients);

// Codes the scan position of the last non-zero level. Coder::bit(model, value) and
// Coder::plain(count, value) encode or decode a value and return it.
template <class Coder>
MMP_INLINE int code_last(Coder& coder, int a, int b, int last) {
    int group = 0;
    if constexpr (Coder::kWrites) group = 31 - __builtin_clz(last + 1);
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
MMP_INLINE int code_remainder(Coder& coder, int models, int size) {
    int group = 0;
    if constexpr (Coder::kWrites) group = 31 - __builtin_clz(size - 2);
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

    LevelModels(int area, int place, int sum, int quantiser)
        : zero(model_of_quantiser(zero_model(area, place, sum), quantiser)),
          fine_zero(-1),
          one(model_of_quantiser(one_model(area, place, sum), quantiser)),
          two(model_of_quantiser(two_model(area, place, sum), quantiser)),
          remainder(remainder_models(area)) {}
    // With fine contexts. `fine_place` is from Scan::fine_place, `sum` is a class of sums.
    static LevelModels fine(int area, int fine_place, int sum, int quantiser) {
        const int frequency = fine_place % kFrequencies;
        LevelModels models(area, coarse_frequency(frequency), sum, quantiser);
        models.fine_zero =
            fine_zero_model(quantiser, fine_place / kFrequencies, frequency, sum);
        models.one = fine_one_model(quantiser, frequency, sum);
        models.two = fine_two_model(quantiser, frequency, sum);
        models.remainder = fine_remainder_models(frequency, sum);
        return models;
    }
    // The same, for a scan position, a sum, and a state of dependent quantisation.
    MMP_INLINE LevelModels(const Scan::Step& first, int sum, int state);
};

// What sums and states add to the numbers of the first models of a scan position; the next states.
struct ModelOffsets {
    struct OfSum {
        uint8_t zero, fine;
    } sums[16] = {};
    struct OfState {
        uint16_t zero, fine_zero, one;
        uint8_t next[2];  // state after an even and after an odd level
    } states[kQuantiserStates] = {};

    constexpr ModelOffsets() {
        for (int sum = 0; sum < 16; ++sum)
            sums[sum] = {uint8_t(smaller(sum, kSums - 1)), uint8_t(sum_class(sum))};
        for (int state = 0; state < kQuantiserStates; ++state) {
            const int quantiser = quantiser_of(state);
            states[state] = {
                uint16_t(model_of_quantiser(0, quantiser)),
                uint16_t(fine_zero_model(quantiser, 0, 0, 0) - fine_zero_model(0, 0, 0, 0)),
                uint16_t(fine_one_model(quantiser, 0, 0) - fine_one_model(0, 0, 0)),
                {uint8_t(next_state(state, 0)), uint8_t(next_state(state, 1))}};
        }
    }
};
constexpr ModelOffsets kModelOffsets;

MMP_INLINE LevelModels::LevelModels(const Scan::Step& first, int sum, int state)
    : zero(first.zero + kModelOffsets.states[state].zero + kModelOffsets.sums[sum].zero),
      fine_zero(first.fine_zero + kModelOffsets.states[state].fine_zero +
                kModelOffsets.sums[sum].fine),
      one(first.one + kModelOffsets.states[state].one + kModelOffsets.sums[sum].fine),
      two(one - kFineOneModels + kFineTwoModels),
      remainder(first.remainder + kModelOffsets.sums[sum].fine * kRemainders) {}

// Codes the levels of a block; see code_levels(). Inlined, so that a reader stays in registers.
template <bool kFine, bool kDependent, class Coder>
MMP_INLINE void code_levels_by(Coder& coder, int a, int b, int family, const int16_t* levels) {
    const Scan& scan = scan_of(a, b);
    const Scan::Step* steps = scan.fine_steps[family].data();
    const int area = area_class(a, b);
    int last = scan.count - 1;
    if constexpr (Coder::kWrites)
        while (!levels[steps[last].place]) --last;
    last = code_last(coder, a, b, last);
    coder.check(last < scan.count, "Levels", "last place", last, scan.count - 1);
    MagnitudeSums sums(scan);
    int state = 0, size = 0;
    const auto next = [&] { return kDependent ? kModelOffsets.states[state].next[size & 1] : 0; };
    for (int k = last; k >= 0; --k, state = next()) {
        const Scan::Step& step = steps[k];
        const int quantiser = quantiser_of(state), sum = sums.at(step.margin);
        const LevelModels models =
            kFine ? LevelModels(step, sum, state)
                  : LevelModels(area, scan.frequency_class[k], sum, quantiser);
        int level = 0;
        if constexpr (Coder::kWrites) level = levels[step.place];
        const int given = level < 0 ? -level : level;
        size = 0;
        if (k < last && !(kFine ? coder.mean_bit(models.zero, models.fine_zero, given > 0)
                                : coder.bit(models.zero, given > 0)))
            continue;
        const bool negative = coder.plain(1, level < 0);
        size = 1;
        if (coder.bit(models.one, given > 1))
            size = coder.bit(models.two, given > 2) ? code_remainder(coder, models.remainder, given)
                                                    : 2;
        coder.check(size <= kMaxLevel, "Levels", "size of a level", size, kMaxLevel);
        if constexpr (!Coder::kWrites)
            coder.template take<kDependent>(step.place, size, negative, quantiser);
        sums.add(step.margin, size);
    }
}

// Codes the levels of a block with this mode. A reader ignores `levels` and takes each level that
// is not 0. Coder::mean_bit(model, other, value) codes a bit by the mean of two models.
template <class Coder>
MMP_INLINE void code_levels(Coder& coder, int a, int b, int mode, const BlockTools& tools,
                            const int16_t* levels) {
    const int family = family_of(mode);
    if (tools.fine_contexts && tools.dependent)
        code_levels_by<true, true>(coder, a, b, family, levels);
    else if (tools.fine_contexts)
        code_levels_by<true, false>(coder, a, b, family, levels);
    else if (tools.dependent)
        code_levels_by<false, true>(coder, a, b, family, levels);
    else
        code_levels_by<false, false>(coder, a, b, family, levels);
}

}  // namespace mmp
