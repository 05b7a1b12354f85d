// The choice of the blocks that repeat, which only an encoder makes. Source: section "Repeating
// pixels", "Blocks", of docs/format/format.md; docs/decisions/0083-repeating-pixels.md has the
// measurements behind the weights.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <vector>

#include "cpu/lossless/pixels/blocks.h"
#include "cpu/lossless/pixels/colours.h"
#include "cpu/lossless/pixels/mixing.h"

namespace mmp::pixels {

// What is counted in a block to compare whole pixels with planes.
struct BlockCounts {
    int pixels = 0;
    int known = 0;   // pixels with a neighbour's colour, not that of the last pixel between these
    int fresh = 0;   // pixels of another colour than both
    int digits = 0;  // binary digits of the residuals of all samples
};

// Returns the binary digits of the residuals of a pixel, each without that of the plane before.
inline int residual_digits(const ColourShape& shape, Colour own, Colour w, Colour n, Colour nw) {
    int digits = 0, before = 0;
    for (int k = 0; k < shape.planes; ++k) {
        const int left = shape.sample(w, k), above = shape.sample(n, k);
        const int least = std::min(left, above), most = std::max(left, above);
        const int predicted = std::clamp(left + above - shape.sample(nw, k), least, most);
        const int residual = shape.sample(own, k) - predicted;
        digits += std::bit_width(uint32_t(std::abs(residual - before)));
        before = residual;
    }
    return digits;
}

// Counts what whole pixels and planes pay for, and returns the digits of the number of colours.
inline int count_blocks(const std::vector<Colour>& colours, const ColourShape& shape, int width,
                        int height, std::vector<BlockCounts>& counts) {
    constexpr int kBits = 16, kColourBits = 20;  // of hashes of neighbours and of colours
    std::vector<Colour> last(size_t{1} << kBits);
    std::vector<bool> occurs(size_t{1} << kColourBits);
    const int across = (width + kBlock - 1) / kBlock;
    for (int row = 0; row < height; ++row) {
        const Colour* here = &colours[size_t(row) * width];
        const Colour* above = row ? here - width : nullptr;
        for (int column = 0; column < width; ++column) {
            const Colour own = here[column];
            const int left = std::max(column - 1, 0), right = std::min(column + 1, width - 1);
            const Colour w = column ? here[left] : row ? above[0] : 0;
            const Colour n = row ? above[column] : w, nw = row ? above[left] : w;
            const Colour ne = row ? above[right] : w;
            BlockCounts& count = counts[size_t(row / kBlock) * across + column / kBlock];
            ++count.pixels;
            if (own == w && own == n && own == nw && own == ne) continue;
            const uint32_t key = hash_of(folded(w), folded(n), folded(nw), folded(ne));
            Colour& seen = last[key >> (32 - kBits)];
            if (own != seen) {
                ++(own == w || own == n || own == nw || own == ne ? count.known : count.fresh);
                occurs[hash_of(0, folded(own)) >> (32 - kColourBits)] = true;
            }
            count.digits += residual_digits(shape, own, w, n, nw);
            seen = own;
        }
    }
    return std::bit_width(uint32_t(std::count(occurs.begin(), occurs.end(), true)));
}

// Chooses the blocks whose whole pixels need fewer bits than their planes, by counts. Both ways of
// coding learn, so few blocks of one kind join the other kind.
inline Blocks repeating_blocks(const std::vector<Colour>& colours, const ColourShape& shape,
                               int width, int height, int form) {
    constexpr int kUnit = 4;              // parts of a unit, so that a quarter of it is whole
    constexpr int kLearning = 10000;      // units a plane, which natural blocks must save
    constexpr int kManyColours = 12;      // digits of their number
    const int of_planes = form == 1 ? 5 : 4;  // the fast mode needs more bits
    const int bias = (form == 1 ? 2 : 1) * shape.planes * kUnit;
    const int least = form == 1 ? 614 : 768;  // 12/5 or 3, times 64 * kUnit
    const int across = (width + kBlock - 1) / kBlock, down = (height + kBlock - 1) / kBlock;
    std::vector<BlockCounts> counts(size_t(across) * down);
    const int colour_digits = count_blocks(colours, shape, width, height, counts);
    std::vector<int64_t> saved(counts.size());  // by whole pixels
    int64_t gain = 0, loss = 0, pixels = 0, fresh = 0, natural = 0;
    Blocks blocks(width, height);
    for (size_t i = 0; i < counts.size(); ++i) {
        const BlockCounts& count = counts[i];
        saved[i] = of_planes * (6 * int64_t{count.pixels} + 2 * count.digits) -
                   kUnit * (12 * count.known + 3 * int64_t{colour_digits} * count.fresh);
        if (saved[i] >= 0)
            gain += saved[i], pixels += count.pixels, fresh += count.fresh;
        else
            loss -= saved[i];
        const bool repeats = saved[i] + int64_t{bias} * count.pixels >= 0;
        if (!repeats) natural -= saved[i];
        blocks.set(i, repeats);
    }
    const int64_t mean = pixels ? 64 * gain / pixels : 0;
    if (mean == 0 || mean * gain < least * (loss + kUnit * pixels)) return Blocks(width, height);
    // Noise would save little and take ten times as long.
    if (colour_digits > kManyColours && 4 * fresh > 3 * pixels) return Blocks(width, height);
    if (natural < int64_t{kUnit} * kLearning * shape.planes) {
        for (size_t i = 0; i < counts.size(); ++i) blocks.set(i, true);
    } else if (form == 3 && mean < 5 * 64 * kUnit) {
        return Blocks(width, height);  // natural blocks would lose a predictor
    }
    return blocks;
}

}  // namespace mmp::pixels
