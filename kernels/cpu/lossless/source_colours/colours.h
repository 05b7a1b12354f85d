// Luma and chroma that RGB samples were made from. Source: section "Source colours" of
// docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <array>

#include "cpu/runtime/errors.h"
#include "cpu/runtime/simd.h"

namespace mmp {

constexpr char kColoursSection[] = "Source colours";

struct Chroma {
    int first, second;
};

struct SourceColours {
    enum Kind { kNone, kJpeg, kPhotoCd };
    static constexpr int kLeastSize = 8;  // rows and columns of a tile that has the field
    static constexpr int kRows = 0, kColumns = 1;  // axes

    Kind kind = kNone;
    // Along both axes: whether chroma has half the samples, and how many samples of luma of the
    // first pair precede the tile.
    bool halved[2] = {};
    int phase[2] = {};

    bool any_halved() const { return halved[kRows] || halved[kColumns]; }
    // Samples of chroma along an axis of a tile that has `size` pixels there.
    int count(int axis, int size) const {
        return halved[axis] ? ((size - 1 + phase[axis]) >> 1) + 3 : size;
    }
    // Bits of fraction of what ChromaPlane::interpolated() returns.
    int fraction() const {
        if (kind == kPhotoCd) return any_halved() ? 2 : 0;
        return 2 * (halved[kRows] + halved[kColumns]);
    }

    using Pixel = std::array<int, 3>;  // red, green, blue

    // What chroma adds to luma in each colour; PhotoCD has 16 bits of fraction.
    MMP_INLINE Pixel offsets(Chroma chroma) const {
        if (kind == kJpeg) {
            const int b = chroma.first - 128, r = chroma.second - 128;
            return {(91881 * r + 32768) >> 16, (-22554 * b - 46802 * r + 32768) >> 16,
                    (116130 * b + 32768) >> 16};
        }
        const int b = 145352 * (chroma.first - 156), r = 119374 * (chroma.second - 137);
        return {r, -12714 * (b >> 16) - 33358 * (r >> 16), b};
    }
    MMP_INLINE Pixel pixel(int luma, Chroma chroma) const {
        Pixel found = offsets(chroma);
        for (int& value : found) {
            value = kind == kJpeg ? luma + value : (kPhotoCdLuma * luma + value) >> 16;
            value = std::clamp(value, 0, 255);
        }
        return found;
    }

    static constexpr int kPhotoCdLuma = 89024;
};

// Samples of one chroma plane, of any integer type.
template <class Sample>
class ChromaPlane {
public:
    ChromaPlane(const SourceColours& colours, const Sample* samples, int64_t stride)
        : colours_(colours), samples_(samples), stride_(stride) {}

    // The chroma of a pixel of the tile.
    MMP_INLINE int at(int row, int column) const {
        return interpolated(row, column) >> colours_.fraction();
    }
    MMP_INLINE int interpolated(int row, int column) const {
        const auto& [kind, halved, phase] = colours_;
        const int y = row + phase[0], x = column + phase[1];
        const int down = y & 1, right = x & 1;
        const int j = halved[0] ? (y >> 1) + 1 : row, i = halved[1] ? (x >> 1) + 1 : column;
        if (!halved[0] && !halved[1]) return sample(j, i);
        if (kind == SourceColours::kPhotoCd)
            return sample(j, i) + sample(j, i + right) + sample(j + down, i) +
                   sample(j + down, i + right) + 2;
        const int beside = i + 2 * right - 1, beyond = j + 2 * down - 1;
        if (!halved[0]) return 3 * sample(j, i) + sample(j, beside) + 1 + right;
        if (!halved[1]) return 3 * sample(j, i) + sample(beyond, i) + 1 + down;
        return 9 * sample(j, i) + 3 * sample(j, beside) + 3 * sample(beyond, i) +
               sample(beyond, beside) + 8 - right;
    }

private:
    MMP_INLINE int sample(int row, int column) const { return samples_[row * stride_ + column]; }

    const SourceColours& colours_;
    const Sample* samples_;
    const int64_t stride_;
};

// Codes the colours of a tile.
template <class Coder>
SourceColours code_colours(Coder& coder, const SourceColours& given) {
    SourceColours colours;
    const uint32_t kind = coder.plain(given.kind, 2);
    if (kind > SourceColours::kPhotoCd)
        throw CorruptPayload("colours are 3, allowed is 0 to 2", kColoursSection);
    colours.kind = SourceColours::Kind(kind);
    if (!kind) return colours;
    for (int axis = 0; axis < 2; ++axis) colours.halved[axis] = coder.plain(given.halved[axis], 1);
    for (int axis = 0; axis < 2; ++axis)
        if (colours.halved[axis]) colours.phase[axis] = int(coder.plain(given.phase[axis], 1));
    if (kind == SourceColours::kPhotoCd && colours.halved[0] != colours.halved[1])
        throw CorruptPayload("chroma of PhotoCD is halved along one axis only", kColoursSection);
    return colours;
}

}  // namespace mmp
