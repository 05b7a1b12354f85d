// Earlier pixels around which the first plane has the same shape. Source: section "Repeating
// pixels", "Shapes", of docs/format/format.md.
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include <algorithm>
#include <vector>

#include "cpu/lossless/pixels/mixing.h"
#include "cpu/lossless/pixels/places.h"
#include "cpu/lossless/pixels/colours.h"

namespace mmp::pixels {

// Returns the largest integer that is not above the quotient; the divisor is above 0.
MMP_INLINE int64_t floored(int64_t number, int64_t divisor) {
    return number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor);
}
// Finds where the first plane had the same shape, in any brightness and contrast.
class Shapes {
public:
    static constexpr int kClasses = 7, kNone = 6;
    struct Match {
        int value = -1;  // none
        int near = kNone;
    };

    Shapes(const ColourShape& shape, PixelRows& rows)
        : shape_(shape), rows_(rows), fine_(2 << kBits), coarse_(2 << kBits) {}

    // Finds the best of four spots for a pixel; see() enters it.
    MMP_INLINE Match find(const Colour* here) {
        Match match;
        find_keys(here);
        if (!keyed_) return match;
        const Spot tried[4] = {own_fine_[0], own_fine_[1], own_coarse_[0], own_coarse_[1]};
        int least = INT32_MAX;
        Window best;
        Spot found;
        for (const Spot& spot : tried) {
            if (spot.row < 0) continue;
            const Window other(shape_, rows_.at(spot.row, spot.column), rows_.stride());
            if (other.range == 0) continue;
            int distance = 0;
            for (int i = 0; i < kSize; ++i) {
                const int off = (other.of[i] - other.least) * 255 / other.range -
                                (own_.of[i] - own_.least) * 255 / own_.range;
                distance += std::abs(off) << (i < 6);
            }
            if (distance < least) least = distance, best = other, found = spot;
        }
        if (found.row < 0) return match;
        const int there = shape_.sample(*rows_.at(found.row, found.column), 0) >> shape_.coarser[0];
        const int64_t value =
            own_.least + floored(int64_t{there - best.least} * own_.range, best.range);
        match.value = int(std::clamp<int64_t>(value << shape_.coarser[0], 0, shape_.most[0]));
        match.near =
            (least >= 50) + (least >= 130) + (least >= 260) + (least >= 450) + (least >= 800);
        return match;
    }
    // Finds the keys of the window of a pixel; windows without contrast have none.
    MMP_INLINE void find_keys(const Colour* here) {
        own_ = Window(shape_, here, rows_.stride());
        keyed_ = own_.range >= 16;
        if (!keyed_) return;
        uint32_t fine = 5, coarse = 9;
        for (int i = 0; i < 14; ++i) {
            fine = fine * 5 + (own_.of[i] - own_.least) * 1023 / own_.range / 256;
            if (i < 6) coarse = coarse * 7 + (own_.of[i] - own_.least) * 1791 / own_.range / 256;
        }
        own_fine_ = &fine_[2 * (chained(fine, 1) >> (32 - kBits))];
        own_coarse_ = &coarse_[2 * (chained(coarse, 2) >> (32 - kBits))];
    }
    MMP_INLINE void see(int row, int column) {
        if (!keyed_) return;
        for (Spot* spots : {own_fine_, own_coarse_}) spots[1] = spots[0], spots[0] = {row, column};
    }

private:
    static constexpr int kBits = 14, kSize = 16;
    static constexpr int kUp[kSize] = {0, 1, 1, 1, 0, 2, 1, 1, 2, 2, 1, 0, 3, 2, 2, 1};
    static constexpr int kRight[kSize] = {-1, 0, 1, -1, -2, 0, 2, -2, 1, -1, 3, -3, 0, 2, -2, -3};

    struct Window {
        int32_t of[kSize], least = 0, range = 0;

        Window() = default;
        MMP_INLINE Window(const ColourShape& shape, const Colour* here, int64_t stride) {
            int most = 0;
            least = INT32_MAX;
            for (int i = 0; i < kSize; ++i) {
                of[i] = shape.sample(here[kRight[i] - kUp[i] * stride], 0) >> shape.coarser[0];
                least = std::min(least, of[i]), most = std::max(most, of[i]);
            }
            range = most - least;
        }
    };

    const ColourShape shape_;
    PixelRows& rows_;
    std::vector<Spot> fine_, coarse_;
    Window own_;
    bool keyed_ = false;
    Spot *own_fine_ = nullptr, *own_coarse_ = nullptr;
};

}  // namespace mmp::pixels
