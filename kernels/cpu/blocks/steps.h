// Delta step (delta quantisation step) of the fragments of a plane, and their syntax. Source:
// section "Delta step" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <vector>

#include "shared/blocks/block.h"
#include "shared/blocks/steps.h"

namespace mmp {

class StepChanges {
public:
    StepChanges(int height, int width, int side_log2)
        : side_log2_(side_log2),
          rows_(fragments(height)),
          columns_(fragments(width)),
          values_(size_t(rows_) * columns_) {}

    int rows() const { return rows_; }
    int columns() const { return columns_; }
    std::vector<int8_t>& values() { return values_; }
    const std::vector<int8_t>& values() const { return values_; }

    // Number, in coding order, of the fragment that holds this sample.
    size_t number(int row, int column) const {
        return size_t(row >> side_log2_) * columns_ + (column >> side_log2_);
    }
    int8_t& at(int row, int column) { return values_[number(row, column)]; }
    int8_t at(int row, int column) const { return values_[number(row, column)]; }

    // The predicted step change of a fragment, and the context of the binary model *changed*.
    struct Expected {
        int change, context;
    };
    Expected expected(int row, int column) const {
        const size_t at = number(row, column), above = at - columns_;
        const bool is_first = row >> side_log2_ == 0, begins = column >> side_log2_ == 0;
        if (is_first) return {begins ? 0 : values_[at - 1], 0};
        if (begins) return {values_[above], 0};
        const int left = values_[at - 1], upper = values_[above];
        return {expected_change(left, upper, values_[above - 1]), left != upper};
    }

private:
    int fragments(int length) const { return (length + (1 << side_log2_) - 1) >> side_log2_; }

    const int side_log2_, rows_, columns_;
    std::vector<int8_t> values_;
};

// Codes the step change of the fragment that holds this sample; a reader stores it in `changes`.
template <class Coder>
void code_change(Coder& coder, StepChanges& changes, int row, int column) {
    const auto [expected, context] = changes.expected(row, column);
    const int given = changes.at(row, column) - expected, farther = given < 0 ? -given : given;
    int size = coder.bit(kChangedModels + context, given != 0), difference = 0;
    if (size) {
        const bool finer = coder.bit(kFinerModel, given < 0);
        while (size < 2 * kMostChange &&
               coder.bit(kFurtherModels + smaller(size, kFurthers) - 1, farther > size))
            ++size;
        difference = finer ? -size : size;
    }
    const int change = expected + difference;
    coder.check(change >= -kMostChange && change <= kMostChange, "Delta step", "step change",
                change, kMostChange, -kMostChange);
    if constexpr (!Coder::kWrites) changes.at(row, column) = int8_t(change);
}

}  // namespace mmp
