// The partition of a fragment into blocks: places, and splits that are allowed or forced.
// Source: section "Blocks" of docs/format/format.md.
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

// Whether a padded picture of this size is small: most of its blocks lie at or near its borders.
MMP_HD constexpr bool is_small(int rows, int columns) {
    return int64_t{rows} * columns <= 1 << 14;
}

// Whether all samples of a block lie beyond a picture of this size.
MMP_HD constexpr bool is_outside(const BlockPlace& block, int rows, int columns) {
    return block.row >= rows || block.column >= columns;
}

// The split of a block that reaches beyond a picture of this size; kLeaf for any other block.
MMP_HD constexpr Flag forced_flag(const BlockPlace& block, int rows, int columns) {
    if (block.column + block.width() > columns) return kColumns;
    if (block.row + block.height() > rows) return kRows;
    return kLeaf;
}

// Ternary splits, into a quarter, a half and a quarter of the block. They follow the flags of splits
// into halves.
constexpr int kThreeColumns = 3, kThreeRows = 4, kBlockFlags = 5, kMostParts = 3;

MMP_HD constexpr bool is_ternary(int flag) { return flag >= kThreeColumns; }
// The flag of the ternary split in the direction of a split into halves.
MMP_HD constexpr int ternary_of(int flag) { return flag + kThreeColumns - kColumns; }
MMP_HD constexpr bool splits_columns(int flag) { return flag == kColumns || flag == kThreeColumns; }
MMP_HD constexpr int parts_of(int flag) { return is_ternary(flag) ? 3 : 2; }

MMP_HD constexpr bool may_split(const BlockPlace& block, int flag) {
    return (splits_columns(flag) ? block.b : block.a) > kMinSideLog2 + is_ternary(flag);
}

// A part of a split block; the leftmost or topmost one is 0.
MMP_HD constexpr BlockPlace part_of(const BlockPlace& block, int flag, int part) {
    const bool ternary = is_ternary(flag);
    const int smaller = ternary && part != 1 ? 2 : 1;  // than the block, as a logarithm
    // A ternary split has its parts at 0, 1 and 3 quarters of the side.
    const int quarters = ternary ? part * (part + 1) / 2 : 2 * part;
    if (splits_columns(flag))
        return {block.row, block.column + quarters * (block.width() >> 2), block.a,
                block.b - smaller};
    return {block.row + quarters * (block.height() >> 2), block.column, block.a - smaller, block.b};
}

// Whether a block begins at multiples of its height and width, as without ternary splits.
MMP_HD constexpr bool is_aligned(const BlockPlace& block) {
    return !(block.row & (block.height() - 1)) && !(block.column & (block.width() - 1));
}

// Block numbers within a fragment. The parts of a side have the numbers of a binary heap: 0 is the
// whole side of 64 samples, 1 and 2 are its halves, 3 to 6 its quarters. A block number combines
// the numbers of its rows and of its columns.
constexpr int kHeap = 2 * (kMaxSide >> kUnitLog2) - 1;
constexpr int kBlocks = kHeap * kHeap;

MMP_HD constexpr int heap_number(int start, int log2) {
    return (1 << (kMaxSideLog2 - log2)) - 1 + (start >> log2);
}

// The number of a block whose row and column count from the fragment's first sample.
MMP_HD constexpr int block_number(const BlockPlace& block) {
    return heap_number(block.row, block.a) * kHeap + heap_number(block.column, block.b);
}

// Block numbers that include the parts of ternary splits. A side begins at a multiple of its half,
// but at least of a unit: there are 1 side of 64 samples, 3 of 32, 7 of 16, 15 of 8 and 16 of 4.
constexpr int kPlacedSides = 42, kPlacedBlocks = kPlacedSides * kPlacedSides;

MMP_HD constexpr int placed_side(int start, int log2) {
    const int larger_sides = (2 << (kMaxSideLog2 - log2)) - 2 - (kMaxSideLog2 - log2);
    return larger_sides + (start >> larger(log2 - 1, kUnitLog2));
}
MMP_HD constexpr int placed_number(const BlockPlace& block) {
    return placed_side(block.row, block.a) * kPlacedSides + placed_side(block.column, block.b);
}

MMP_HD BlockPlace block_of(int number) {
    const int down = number / kHeap + 1, across = number % kHeap + 1;
    const int a = kMaxSideLog2 - floor_log2(down), b = kMaxSideLog2 - floor_log2(across);
    return {(down << a) - kMaxSide, (across << b) - kMaxSide, a, b};
}

}  // namespace mmp
