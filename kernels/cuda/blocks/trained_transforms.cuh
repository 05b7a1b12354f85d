// Which trained transform a block has, and its low frequencies. Source: section "Trained transforms"
// of docs/format/format.md.
#pragma once

#include "shared/blocks/block.h"

namespace mmp {

constexpr int kLowSide = 6, kMostLow = kLowSide * kLowSide;
constexpr int kModeGroups = 5;
constexpr int kEntryBits = 7;  // fixed point: 128 represents 1

struct TrainedShape {
    int group, turned, shape;  // turned: rows and columns are swapped
    bool high, wide;           // whether there are six rows, and six columns, of low frequencies

    MMP_HD TrainedShape(int a, int b, int mode)
        : group(group_of(mode)),
          turned(angle_of(mode) < 0 ? a > b : angle_of(mode) < kFirstVertical),
          shape(shape_number(a, b)),
          high((turned ? b : a) > kMinSideLog2),
          wide((turned ? a : b) > kMinSideLog2) {}
    MMP_HD int count() const { return (high ? kLowSide : 4) * (wide ? kLowSide : 4); }

private:
    MMP_HD static int group_of(int mode) {
        if (mode >= kTemplates) return 1;
        if (mode < kFirstAngle) return 0;
        const int apart = angle_of(mode) - kFirstVertical, size = apart < 0 ? -apart : apart;
        return size < 6 ? 2 : size < 11 ? 3 : 4;
    }
};

}  // namespace mmp
