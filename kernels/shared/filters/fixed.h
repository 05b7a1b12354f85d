// Arithmetic of the fixed filters for one sample. Source: section "Fixed filters"
// of docs/format/format.md.
#pragma once

#include "shared/filters/blocks.h"

namespace mmp {

constexpr int kBankActivities = 7;
constexpr int kBankDirections = 5;
constexpr int kBankClasses = kBankActivities * kBankDirections;
constexpr int kBankTurns = 4;  // mirrored and transposed forms of a filter
constexpr int kBankTaps = 12;
constexpr int kBankClips = 4;
constexpr int kBankScales = 4;  // scales 0, 1/2, 1 and 3/2
constexpr int kBankReach = 3;   // largest row or column offset of a tap
constexpr int kBankZero = 64;   // byte that represents weight 0

// The offset of one sample of each tap; the other sample of the tap lies at the opposite offset.
MMP_TABLE TapOffset kBankOffsets[kBankTaps] = {{0, 1}, {0, 2}, {0, 3},  {1, -2}, {1, -1}, {1, 0},
                                               {1, 1}, {1, 2}, {2, -1}, {2, 0},  {2, 1},  {3, 0}};

// The offset of a tap in one of the four turns: bit 0 mirrors columns, then bit 1 transposes.
MMP_HD constexpr TapOffset turned(TapOffset o, int turn) {
    const int column = turn & 1 ? -o.column : o.column;
    return turn & 2 ? TapOffset{column, o.row} : TapOffset{o.row, column};
}

// Limit to which a clip level clips differences; level 0 does not clip.
MMP_HD constexpr int bank_clip(int level, int step, int extra, int most) {
    constexpr int kSteps[kBankClips] = {0, 10, 6, 3};  // in 1/512 of a step
    if (level == 0) return most;
    const int clip = ((kSteps[level] * step << extra) + 256) >> 9;
    return clip < 1 ? 1 : clip < most ? clip : most;
}

constexpr int kBankTables = 3;

// Index of the table of filters for a quantisation step.
MMP_HD constexpr int bank_table(int step) { return (step >= 278) + (step >= 833); }

// Upper limit of an activity class: the largest sum of horizontal and vertical variations in it.
MMP_HD constexpr int most_of_activity(int activity, int step) {
    return (kVariationWeights * step << activity) >> 9;
}

// Direction class of a block from the sums of variations around it: across, down, along a falling
// and along a rising diagonal.
MMP_HD constexpr int bank_direction(int across, int down, int falling, int rising) {
    const int high = across > down ? across : down, low = across > down ? down : across;
    const int steep = falling > rising ? falling : rising;
    const int flat = falling > rising ? rising : falling;
    const bool straight = high * flat > steep * low;
    const int most = straight ? high : steep, least = straight ? low : flat;
    return (2 * most > 3 * least) * ((straight ? 1 : 3) + (most > 3 * least));
}

MMP_HD constexpr int bank_turn(int across, int down, int falling, int rising) {
    return 2 * (down > across) + (rising > falling);
}

// Filtered sample: x plus the sum of the clipped differences, weighted in 1/128 and scaled in halves.
MMP_HD constexpr int bank_sample(int x, int32_t weighted, int most) {
    return limited_sample(x + ((weighted + 128) >> 8), most);
}

}  // namespace mmp
