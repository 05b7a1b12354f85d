// Which blocks of the picture repeat, so that their pixels are coded whole. Source: section
// "Repeating pixels", "Blocks", of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <vector>

#include "cpu/runtime/simd.h"
#include "shared/entropy/binary.h"

namespace mmp::pixels {

constexpr int kBlock = 32;  // rows and columns of a block

class Blocks {
public:
    Blocks(int width, int height)
        : across_((width + kBlock - 1) / kBlock),
          width_(width),
          repeats_(size_t(across_) * ((height + kBlock - 1) / kBlock)) {}

    MMP_INLINE bool repeats(int row, int column) const {
        return repeats_[size_t(row / kBlock) * across_ + column / kBlock];
    }
    // Returns the column after the last block in a row of blocks of one kind.
    MMP_INLINE int end_of(int row, int column) const {
        const bool kind = repeats(row, column);
        do column = (column / kBlock + 1) * kBlock;
        while (column < width_ && repeats(row, column) == kind);
        return std::min(column, width_);
    }
    bool any(bool kind) const {
        return std::find(repeats_.begin(), repeats_.end(), kind) != repeats_.end();
    }
    void set(size_t number, bool repeats) { repeats_[number] = repeats; }

    template <class Coder>
    void code(Coder& coder) {
        BitModel models[4];
        for (size_t i = 0; i < repeats_.size(); ++i) {
            const bool left = i % across_ ? repeats_[i - 1] : true;
            const bool above = i >= size_t(across_) ? repeats_[i - across_] : true;
            BitModel& model = models[left + 2 * above];
            repeats_[i] = coder.map_bit(model.one, repeats_[i]);
            model.count(repeats_[i]);
        }
    }

private:
    int across_, width_;
    std::vector<uint8_t> repeats_;
};

}  // namespace mmp::pixels
