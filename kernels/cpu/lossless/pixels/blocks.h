// Which blocks of the picture repeat, so that their pixels are coded whole. Source: section
// "Repeating pixels", "Blocks", of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <vector>

#include "cpu/lossless/pixels/mixing.h"
#include "cpu/lossless/pixels/colours.h"
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

// Finds the blocks that repeat, which only an encoder does. A pixel is new if it has the colour of
// none of its four nearest neighbours, and another one than the last pixel with these neighbours.
// A block repeats if at most 2/5 of its pixels are new; no block does if more than 1/5 of the
// pixels of all these blocks are new.
inline Blocks repeating_blocks(const std::vector<Colour>& colours, int width, int height) {
    constexpr int kBits = 16;
    std::vector<Colour> last(size_t{1} << kBits);
    Blocks blocks(width, height);
    const int across = (width + kBlock - 1) / kBlock;
    std::vector<int> fresh(across);
    int64_t all_fresh = 0, all_pixels = 0;
    for (int row = 0; row < height; ++row) {
        const Colour* here = &colours[size_t(row) * width];
        const Colour* above = row ? here - width : here;
        for (int column = 0; column < width; ++column) {
            const int left = std::max(column - 1, 0), right = std::min(column + 1, width - 1);
            const Colour w = column ? here[left] : above[0];
            const Colour n = above[column], nw = above[left], ne = above[right];
            const Colour own = here[column];
            if (own == w && own == n && own == nw && own == ne) continue;
            const uint32_t key = hash_of(folded(w), folded(n), folded(nw), folded(ne));
            Colour& seen = last[key >> (32 - kBits)];
            fresh[column / kBlock] += own != w && own != n && own != nw && own != ne && own != seen;
            seen = own;
        }
        if (row % kBlock != kBlock - 1 && row != height - 1) continue;
        for (int i = 0; i < across; ++i) {
            const int pixels = (row % kBlock + 1) * std::min(kBlock, width - i * kBlock);
            const bool repeats = 5 * fresh[i] <= 2 * pixels;
            blocks.set(size_t(row / kBlock) * across + i, repeats);
            if (repeats) all_fresh += fresh[i], all_pixels += pixels;
        }
        std::fill(fresh.begin(), fresh.end(), 0);
    }
    return 5 * all_fresh > all_pixels ? Blocks(width, height) : blocks;
}

}  // namespace mmp::pixels
