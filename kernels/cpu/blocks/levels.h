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
#include "shared/blocks/syntax.h"

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

// The levels of a block as code_levels() visits them, with fine contexts or without.
template <bool kFineContexts, bool kDependentLevels>
class LevelScan {
public:
    static constexpr bool kFine = kFineContexts, kDependent = kDependentLevels;

    MMP_INLINE LevelScan(int a, int b, int family)
        : scan_(scan_of(a, b)),
          steps_(scan_.fine_steps[family].data()),
          area_(area_class(a, b)),
          sums_(scan_) {}
    MMP_INLINE int count() const { return scan_.count; }
    MMP_INLINE const Scan::Step& at(int k) const { return steps_[k]; }
    MMP_INLINE int place(const Scan::Step& step) const { return step.place; }
    MMP_INLINE void add(const Scan::Step& step, int size) { sums_.add(step.margin, size); }
    MMP_INLINE LevelModels models(const Scan::Step& first, int state) const {
        const int sum = sums_.at(first.margin);
        if constexpr (!kFine) {
            const int place = scan_.frequency_class[&first - steps_];
            return LevelModels::coarse(area_, place, sum, quantiser_of(state));
        } else {
            const auto& [zero, fine_zero, one, states] = kModelOffsets.states[state];
            const auto& of_sum = kModelOffsets.sums[sum];
            const int own_one = first.one + one + of_sum.fine;
            return {first.zero + zero + of_sum.zero, first.fine_zero + fine_zero + of_sum.fine,
                    own_one, own_one - kFineOneModels + kFineTwoModels,
                    first.remainder + of_sum.fine * kRemainders};
        }
    }
    MMP_INLINE int next(int state, int size) const {
        return kDependent ? kModelOffsets.states[state].next[size & 1] : 0;
    }

private:
    const Scan& scan_;
    const Scan::Step* const steps_;
    const int area_;
    MagnitudeSums sums_;
};

// Codes the levels of a block with this mode; see code_levels() above. Inlined, so that a reader
// stays in registers.
template <class Coder>
MMP_INLINE void code_levels(Coder& coder, int a, int b, int mode, const BlockTools& tools,
                            const int16_t* levels) {
    const int family = family_of(mode);
    const auto code_by = [&](auto scan) MMP_INLINED { code_levels(scan, coder, a, b, levels); };
    if (tools.fine_contexts && tools.dependent)
        code_by(LevelScan<true, true>(a, b, family));
    else if (tools.fine_contexts)
        code_by(LevelScan<true, false>(a, b, family));
    else if (tools.dependent)
        code_by(LevelScan<false, true>(a, b, family));
    else
        code_by(LevelScan<false, false>(a, b, family));
}

}  // namespace mmp
