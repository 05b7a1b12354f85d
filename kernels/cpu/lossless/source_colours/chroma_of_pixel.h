// The chroma by which some luma gives a pixel. Encoder only.
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include <algorithm>
#include <iterator>

#include "cpu/lossless/source_colours/colours.h"

namespace mmp {

// How far the chroma of a pixel is searched around an estimate; the farther where none is found.
constexpr int kReaches[] = {2, 6, 20, 64};

// Luma from `least` to `most` gives a pixel by some chroma; none does if `most` is less.
struct Lumas {
    int least = 0, most = 255;
    int gap() const { return std::max(0, least - most); }
};

inline int floor_divided(int value, int divisor) {
    const int quotient = value / divisor;
    return quotient - (value % divisor < 0);
}

inline Lumas lumas_of(const SourceColours& colours, const SourceColours::Pixel& pixel,
                      Chroma chroma) {
    Lumas found;
    const SourceColours::Pixel offsets = colours.offsets(chroma);
    for (int i = 0; i < 3; ++i) {
        int least = pixel[i] - offsets[i], most = least;
        if (colours.kind == SourceColours::kPhotoCd) {
            constexpr int kLuma = SourceColours::kPhotoCdLuma;
            const int low = (pixel[i] << 16) - offsets[i];
            least = floor_divided(low + kLuma - 1, kLuma), most = floor_divided(low + 65535, kLuma);
        }
        if (pixel[i] > 0) found.least = std::max(found.least, least);
        if (pixel[i] < 255) found.most = std::min(found.most, most);
    }
    return found;
}

inline bool is_clipped(const SourceColours::Pixel& p) {
    return std::min({p[0], p[1], p[2]}) == 0 || std::max({p[0], p[1], p[2]}) == 255;
}

inline bool is_chroma(int first, int second) { return !((first | second) & ~255); }

// The chroma of a pixel, about.
inline Chroma estimated(SourceColours::Kind kind, const SourceColours::Pixel& pixel) {
    const auto [red, green, blue] = pixel;
    constexpr int kMiddle = (128 << 16) + 32767;
    if (kind == SourceColours::kJpeg)
        return {(-11059 * red - 21709 * green + 32768 * blue + kMiddle) >> 16,
                (32768 * red - 27439 * green - 5329 * blue + kMiddle) >> 16};
    const int luma = (1000 * green + 194 * blue + 509 * red + 600) * 10 / 1703;  // in 1/10
    const auto one = [&](int value, int scale, int origin) {
        const int offset = (10 * value + 5 - luma) * 1000;
        const int half = offset < 0 ? -scale : scale;
        return std::clamp(origin + (2 * offset + half) / (2 * scale), 0, 255);
    };
    return {one(blue, 22179, 156), one(red, 18215, 137)};
}

// The chroma within a reach of an estimate that gives the pixel by some luma; else one of a small
// gap.
inline Chroma nearest(const SourceColours& colours, const SourceColours::Pixel& pixel,
                      Chroma estimate, int reach) {
    int least = INT32_MAX;
    Chroma best = estimate;
    for (int i = -reach; i <= reach; ++i)
        for (int j = -reach; j <= reach; ++j) {
            const Chroma other{estimate.first + i, estimate.second + j};
            if (!is_chroma(other.first, other.second)) continue;
            // Two corrections cost more than a large one.
            const int cost = 4096 * lumas_of(colours, pixel, other).gap() + 8 * (i && j) +
                             std::abs(i) + std::abs(j);
            if (cost < least) least = cost, best = other;
        }
    return best;
}

// The same within the farthest reach; adds the chromas that it looks at to `steps`.
inline Chroma nearest(const SourceColours& colours, const SourceColours::Pixel& pixel,
                      Chroma estimate, int64_t& steps) {
    Chroma found = estimate;
    for (const int reach : kReaches) {
        if (!lumas_of(colours, pixel, found).gap()) break;
        steps += (2 * reach + 1) * (2 * reach + 1);
        found = nearest(colours, pixel, estimate, reach);
    }
    return found;
}

// Whether chroma is beyond the farthest reach of an estimate.
inline bool is_far(Chroma estimate, Chroma chroma) {
    constexpr int kFarthest = kReaches[std::size(kReaches) - 1];
    return std::max(std::abs(chroma.first - estimate.first),
                    std::abs(chroma.second - estimate.second)) > kFarthest;
}

}  // namespace mmp
