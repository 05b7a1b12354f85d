// Partition of a fragment into blocks: positions, allowed splits and forced splits. Source: section
// "Blocks" of docs/format/format.md.
#pragma once

#include "shared/blocks/block.h"
#include "shared/trees/scales.h"

namespace mmp {

// The number of splits from a fragment of 64x64 samples down to a block of 4x4.
constexpr int kMostSplits = 2 * (kMaxSideLog2 - kMinSideLog2);

// A block of 2^a rows and 2^b columns, and the row and column of its first sample.
struct BlockPlace {
    int row, column, a, b;

    MMP_HD constexpr int height() const { return 1 << a; }
    MMP_HD constexpr int width() const { return 1 << b; }
    MMP_HD constexpr int area() const { return 1 << (a + b); }
};

// Whether a padded picture is small; most blocks of a small picture lie at or near its border.
MMP_HD constexpr bool is_small(int rows, int columns) {
    return int64_t{rows} * columns <= 1 << 14;
}

// Whether a block lies completely outside a picture of this size.
MMP_HD constexpr bool is_outside(const BlockPlace& block, int rows, int columns) {
    return block.row >= rows || block.column >= columns;
}

// The forced split of a block that crosses the border of a picture of this size; kLeaf if none is
// forced.
MMP_HD constexpr Flag forced_flag(const BlockPlace& block, int rows, int columns) {
    if (block.column + block.width() > columns) return kColumns;
    if (block.row + block.height() > rows) return kRows;
    return kLeaf;
}

// Ternary splits divide a block into a quarter, a half and a quarter. Their flags follow the flags
// of binary splits.
constexpr int kThreeColumns = 3, kThreeRows = 4, kBlockFlags = 5, kMostParts = 3;

MMP_HD constexpr bool is_ternary(int flag) { return flag >= kThreeColumns; }
// The ternary flag with the direction of a binary split flag.
MMP_HD constexpr int ternary_of(int flag) { return flag + kThreeColumns - kColumns; }
MMP_HD constexpr bool splits_columns(int flag) { return flag == kColumns || flag == kThreeColumns; }
MMP_HD constexpr int parts_of(int flag) { return is_ternary(flag) ? 3 : 2; }

MMP_HD constexpr bool may_split(const BlockPlace& block, int flag) {
    return (splits_columns(flag) ? block.b : block.a) > kMinSideLog2 + is_ternary(flag);
}

// A part of a split block; part 0 is the leftmost or topmost one.
MMP_HD constexpr BlockPlace part_of(const BlockPlace& block, int flag, int part) {
    const bool ternary = is_ternary(flag);
    const int smaller = ternary && part != 1 ? 2 : 1;  // log2 of block side / part side
    // The parts of a ternary split begin at 0, 1 and 3 quarters of the side.
    const int quarters = ternary ? part * (part + 1) / 2 : 2 * part;
    if (splits_columns(flag))
        return {block.row, block.column + quarters * (block.width() >> 2), block.a,
                block.b - smaller};
    return {block.row + quarters * (block.height() >> 2), block.column, block.a - smaller, block.b};
}

// Whether a block begins at multiples of its height and width; without ternary splits, all blocks
// do.
MMP_HD constexpr bool is_aligned(const BlockPlace& block) {
    return !(block.row & (block.height() - 1)) && !(block.column & (block.width() - 1));
}

// Block numbers within a fragment, which combine the numbers of a row interval and of a column
// interval. An interval begins at a multiple of half its length, at least of a unit, because of the
// parts of ternary splits: there is 1 interval of 64 samples, 3 of 32, 7 of 16, 15 of 8 and 16 of 4.
constexpr int kIntervals = 42, kBlocks = kIntervals * kIntervals;

MMP_HD constexpr int first_interval(int log2) {
    return (2 << (kMaxSideLog2 - log2)) - 2 - (kMaxSideLog2 - log2);
}
MMP_HD constexpr int interval_number(int start, int log2) {
    return first_interval(log2) + (start >> larger(log2 - 1, kUnitLog2));
}
// Number of a block whose row and column are relative to the fragment's first sample.
MMP_HD constexpr int block_number(const BlockPlace& block) {
    return interval_number(block.row, block.a) * kIntervals + interval_number(block.column, block.b);
}

MMP_HD BlockPlace block_of(int number) {
    const int down = number / kIntervals, across = number % kIntervals;
    int a = kMaxSideLog2, b = kMaxSideLog2;
    while (a > kMinSideLog2 && down >= first_interval(a - 1)) --a;
    while (b > kMinSideLog2 && across >= first_interval(b - 1)) --b;
    return {(down - first_interval(a)) << larger(a - 1, kUnitLog2),
            (across - first_interval(b)) << larger(b - 1, kUnitLog2), a, b};
}

}  // namespace mmp
