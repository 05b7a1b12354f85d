// The predicted size of forms 1 and 2: what is known before a block is summed for all its places at
// once. Source: section "Levels of a stripe", "Sizes", of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cpu/jpeg/levels/block.h"
#include "cpu/jpeg/levels/scales.h"
#include "cpu/jpeg/levels/tables.h"
#include "cpu/runtime/simd.h"

namespace mmp::jpeg {

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
    explicit SizeSums(int columns)
        : tables_(level_tables()),
          columns_(columns),
          logarithms_(size_t{kRows} * columns * kBlockLevels) {}

    // Prepares the block in a row and column. `difference` is that of its first level.
    MMP_INLINE void begin(const Around& around, int kind, int row, int column, int end,
                          int difference) {
        const auto& weights = tables_.known_weights[kind];
        const bool has_left = around.has_left, has_above = around.has_above;
        const int16_t* above = has_above ? block(row - 1, column) : nullptr;
        const int16_t* left = has_left ? block(row, column - 1) : above ? above : kNone;
        if (!above) above = left;
        const int16_t* blocks[6] = {
            left,
            above,
            !has_above ? left : has_left ? block(row - 1, column - 1) : kNone,
            !has_above              ? left
            : column + 1 < columns_ ? block(row - 1, column + 1)
                                    : kNone,
            column > 1 ? block(row, column - 2) : kNone,
            row > 1 ? block(row - 2, column) : kNone};
        const int16_t* rest = kRestLogarithms.of[end];
        const int counts = logarithm(around.left_count + around.above_count);
        const int last = logarithm(end), first = logarithm(abs(difference));
        alignas(64) int16_t sums[8 + kBlockLevels + 8];
        for (int k = 0; k < kBlockLevels; ++k) sums[8 + k] = int16_t(left[k] + above[k]);
        memset(sums, 0, 9 * sizeof *sums);  // without the first level
        memset(sums + 8 + kBlockLevels, 0, 8 * sizeof *sums);
        for (int k = 0; k < kBlockLevels; ++k) {
            const int16_t across = int16_t((kHasWest.of[k] & sums[7 + k]) +
                                           (kHasEast.of[k] & sums[9 + k])),
                          down = int16_t(sums[k] + sums[16 + k]);
            int32_t sum = weights[6][k] * across + weights[7][k] * down + weights[8][k] * rest[k] +
                          weights[9][k] * counts + weights[10][k] * last +
                          weights[11][k] * first + weights[12][k] * 64;
            for (int i = 0; i < 6; ++i) sum += int32_t{weights[i][k]} * blocks[i][k];
            known_[k] = sum;
        }
        if (kind) add_earlier(around, weights);
        memset(own_, 0, sizeof own_);
    }
    MMP_INLINE void set(int k, int size) { own_[kBefore + k] = int16_t(logarithm(size)); }
    MMP_INLINE void end(int row, int column) {
        memcpy(block(row, column), own_ + kBefore, kBlockLevels * sizeof *own_);
    }

    // Returns the predicted logarithm of the size at a place.
    MMP_INLINE int predict(int k, int from_above, int from_left, int kind) const {
        const auto& weights = tables_.near_weights[kind][k];
        const int16_t* here = own_ + kBefore + k;
        int sum = known_[k] + weights[kNear] * logarithm(abs(from_above)) +
                  weights[kNear + 1] * logarithm(abs(from_left));
        for (int i = 0; i < kNear; ++i) sum += weights[i] * here[kNearPlaces[i]];
        return sum >> 12;
    }

private:
    static constexpr int kRows = 3, kBefore = 24;
    static constexpr int16_t kNone[kBlockLevels] = {};

    MMP_INLINE int16_t* block(int row, int column) {
        return &logarithms_[(size_t(row % kRows) * columns_ + column) * kBlockLevels];
    }
    // Adds what the earlier components say.
    template <class Weights>
    MMP_INLINE void add_earlier(const Around& around, const Weights& weights) {
        alignas(64) uint16_t sizes[kBlockLevels];
        for (int k = 0; k < kBlockLevels; ++k) sizes[k] = scaled_size(around.luma[0][k]);
        for (int i = 1; i < around.lumas; ++i)
            for (int k = 0; k < kBlockLevels; ++k) sizes[k] += scaled_size(around.luma[i][k]);
        if (around.lumas < 4)
            for (int k = 0; k < kBlockLevels; ++k) sizes[k] *= uint16_t(4 / around.lumas);
        add_logarithms(sizes, weights[13]);
        if (!around.before) return;
        for (int k = 0; k < kBlockLevels; ++k) sizes[k] = scaled_size(around.before[k]);
        add_logarithms(sizes, weights[14]);
    }
    // Larger sizes count as the last one of the scale, in a sum too.
    static MMP_INLINE uint16_t scaled_size(int16_t level) {
        const int16_t sign = int16_t(level >> 15);
        return std::min<uint16_t>(uint16_t((level ^ sign) - sign), kScaled - 1);
    }
    MMP_INLINE void add_logarithms(const uint16_t* sizes, const int16_t* weights) {
        for (int k = 0; k < kBlockLevels; ++k)
            known_[k] += weights[k] * logarithm_of_vector(sizes[k]);
    }

    const LevelTables& tables_;
    const int columns_;
    std::vector<int16_t> logarithms_;  // of the sizes in the last three rows of blocks
    alignas(64) int32_t known_[kBlockLevels] = {};
    alignas(64) int16_t own_[kBefore + kBlockLevels + kBefore] = {};  // logarithms, zeros around
};

}  // namespace mmp::jpeg
