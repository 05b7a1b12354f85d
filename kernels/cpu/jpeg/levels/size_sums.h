// The trained prediction of sizes: what blocks around say is summed for all places of a block at
// once. Source: section "Levels of a stripe", "Sizes", of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <algorithm>
#include <vector>

#include "cpu/jpeg/levels/block.h"
#include "cpu/jpeg/levels/near.h"
#include "cpu/jpeg/levels/tables.h"
#include "cpu/runtime/simd.h"

namespace mmp::jpeg {

// The logarithms of the sizes in the last three rows of blocks.
class LogarithmRows {
public:
    explicit LogarithmRows(int columns)
        : columns_(columns), logarithms_(size_t{kRows} * columns * kBlockLevels) {}

    MMP_INLINE int16_t* block(int row, int column) {
        return &logarithms_[(size_t(row % kRows) * columns_ + column) * kBlockLevels];
    }
    MMP_INLINE void set(int row, int column, const int16_t* levels) {
        int16_t* own = block(row, column);
        for (int k = 0; k < kBlockLevels; ++k) own[k] = int16_t(logarithm(abs(levels[k])));
    }

private:
    static constexpr int kRows = 3;
    const int columns_;
    std::vector<int16_t> logarithms_;
};

// All bits of the places of a block but those of a column.
struct AllButColumn {
    int16_t of[kBlockLevels];
    constexpr explicit AllButColumn(int column) : of() {
        for (int k = 0; k < kBlockLevels; ++k) of[k] = (k & 7) == column ? 0 : -1;
    }
};
inline constexpr AllButColumn kHasWest{0}, kHasEast{7};

class SizeSums {
public:
    explicit SizeSums(int columns) : rows_(columns) {}

    // Prepares the block in a row and column. `difference` is that of its first level.
    MMP_INLINE void begin(const Around& around, int kind, int row, int column, int columns, int end,
                          int difference) {
        const auto& weights = level_tables().weights_by_input[kind];
        static constexpr int16_t kNone[kBlockLevels] = {};
        const bool has_left = around.has_left, has_above = around.has_above;
        const int16_t* above = has_above ? rows_.block(row - 1, column) : nullptr;
        const int16_t* left = has_left ? rows_.block(row, column - 1) : above ? above : kNone;
        if (!above) above = left;
        const int16_t* blocks[6] = {
            left,
            above,
            !has_above ? left : has_left ? rows_.block(row - 1, column - 1) : kNone,
            !has_above            ? left
            : column + 1 < columns ? rows_.block(row - 1, column + 1)
                                  : kNone,
            column > 1 ? rows_.block(row, column - 2) : kNone,
            row > 1 ? rows_.block(row - 2, column) : kNone};
        const int counts = logarithm(around.left_count + around.above_count);
        const int last = logarithm(end), first = logarithm(abs(difference));
        for (int k = 0; k < kBlockLevels; ++k) {
            int32_t sum = weights[13][k] * counts + weights[16][k] * 64 + weights[17][k] * last +
                          weights[19][k] * first;
            for (int i = 0; i < 6; ++i) sum += int32_t{weights[i][k]} * blocks[i][k];
            known_[k] = sum;
        }
        // Sizes above those of the table count as its last one, alone or in a sum.
        const auto size = [](int16_t level) {
            return int16_t(std::min<int>(abs(int{level}), kScaled - 1));
        };
        for (int k = 0; k < kBlockLevels; ++k)
            sizes_[8 + k] = int16_t(size(around.left[k]) + size(around.above[k]));
        sizes_[8] = 0;
        for (int k = 0; k < kBlockLevels; ++k)
            beside_[k] = int16_t((kHasWest.of[k] & sizes_[7 + k]) + (kHasEast.of[k] & sizes_[9 + k]) +
                                 sizes_[k] + sizes_[16 + k]);
    }
    MMP_INLINE void end(int row, int column, const int16_t* levels) {
        rows_.set(row, column, levels);
    }

    // Returns the predicted logarithm of the size at a place.
    MMP_INLINE int predict(const Near& near, bool has_before, int kind) const {
        const auto& weights = level_tables().size_weights[kind][near.k];
        const auto term = [&](int i, int size) { return weights[i] * logarithm(size); };
        return (known_[near.k] + term(6, near.west) + term(7, near.north) +
                term(8, near.diagonal) + term(9, near.far) + term(10, abs(near.from_above)) +
                term(11, abs(near.from_left)) + term(12, near.left_to_end()) +
                term(14, kind ? near.luma / 2 : near.blocks + near.block) +
                term(15, has_before ? near.before : near.most_border()) +
                term(18, beside_[near.k])) >>
               12;
    }

private:
    LogarithmRows rows_;
    alignas(32) int32_t known_[kBlockLevels] = {};
    alignas(32) int16_t sizes_[kBlockLevels + 16] = {};  // with zeros above and below
    alignas(32) int16_t beside_[kBlockLevels] = {};
};

}  // namespace mmp::jpeg
