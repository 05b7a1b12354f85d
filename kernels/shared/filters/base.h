// What the filters of a decoded plane share.
#pragma once

#include "shared/host_device.h"
#include "shared/integers.h"

namespace mmp {

constexpr int kFilterFractionBits = 7;  // weights are in 1/128

struct TapOffset {
    int row, column;
};

MMP_HD constexpr int magnitude(int value) { return value < 0 ? -value : value; }

MMP_HD constexpr int limited_sample(int y, int most) { return y < 0 ? 0 : y > most ? most : y; }

// The filtered sample: x plus the weighted sum of its tap differences, limited to 0 to `most`.
MMP_HD constexpr int filtered_sample(int x, int32_t weighted, int most) {
    constexpr int kHalf = 1 << (kFilterFractionBits - 1);
    return limited_sample(x + ((weighted + kHalf) >> kFilterFractionBits), most);
}

}  // namespace mmp
