// Whole pixels as colours, with margins that give every pixel all its neighbours. Source: section
// "Repeating pixels", "Colours", of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <array>

#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp::pixels {

constexpr int kMostPlanes = 4;

// The samples of a pixel, at most 16 bits of each plane.
using Colour = uint64_t;

// How the samples of a pixel make a colour: the first plane has the lowest bits.
struct ColourShape {
    int planes = 0;
    std::array<int, kMostPlanes> most{}, bits{}, shift{}, coarser{};  // of each plane

    void add(int largest) {
        most[planes] = largest;
        bits[planes] = 0;
        while (largest >> bits[planes]) ++bits[planes];
        shift[planes] = planes ? shift[planes - 1] + bits[planes - 1] : 0;
        coarser[planes] = std::max(0, bits[planes] - 8);
        ++planes;
    }
    int all_bits() const { return shift[planes - 1] + bits[planes - 1]; }

    MMP_INLINE int sample(Colour colour, int plane) const {
        return bits[plane] ? int(colour >> shift[plane] & ((Colour{1} << bits[plane]) - 1)) : 0;
    }
    MMP_INLINE Colour part(int sample, int plane) const {
        return bits[plane] ? Colour(sample) << shift[plane] : 0;
    }
};

// What hashes see of a colour.
MMP_INLINE uint32_t folded(Colour colour) {
    return uint32_t(colour) + uint32_t(colour >> 32) * 2654435761u;
}

class PixelRows {
public:
    static constexpr int kAbove = 4, kBeside = 16;

    PixelRows(int width, int height)
        : width_(width),
          stride_(width + 2 * kBeside),
          pixels_(size_t(height + kAbove) * stride_ + kBeside, false) {}

    void begin_row(int row) {
        Colour* here = at(row, 0);
        std::fill_n(here - kBeside, kBeside, here[-stride_]);
    }
    void end_row(int row) {
        Colour* end = at(row, width_);
        std::fill_n(end, kBeside, end[-1]);
    }

    MMP_INLINE Colour* at(int64_t row, int64_t column) {
        return &pixels_[(row + kAbove) * stride_ + kBeside + column];
    }
    MMP_INLINE int64_t stride() const { return stride_; }
    int width() const { return width_; }

private:
    const int width_;
    const int64_t stride_;
    ZeroedLines<Colour> pixels_;
};

// Colours around a pixel.
struct Around {
    MMP_INLINE Around(const Colour* here, int64_t stride)
        : here(here), stride(stride), w(here[-1]), n(here[-stride]), nw(here[-stride - 1]),
          ne(here[-stride + 1]), ww(here[-2]), nn(here[-2 * stride]) {}

    MMP_INLINE Colour at(int up, int right) const { return here[right - up * stride]; }

    const Colour* here;
    const int64_t stride;
    const Colour w, n, nw, ne, ww, nn;
};

}  // namespace mmp::pixels
