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

MMP_HD constexpr bool may_split(const BlockPlace& block, int flag) {
    return (flag == kColumns ? block.b : block.a) > kMinSideLog2;
}

// The left or top half (0) of a split block, or its right or bottom half (1).
MMP_HD constexpr BlockPlace half_of(const BlockPlace& block, int flag, int half) {
    if (flag == kColumns)
        return {block.row, block.column + half * (block.width() >> 1), block.a, block.b - 1};
    return {block.row + half * (block.height() >> 1), block.column, block.a - 1, block.b};
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

MMP_HD BlockPlace block_of(int number) {
    const int down = number / kHeap + 1, across = number % kHeap + 1;
    const int a = kMaxSideLog2 - floor_log2(down), b = kMaxSideLog2 - floor_log2(across);
    return {(down << a) - kMaxSide, (across << b) - kMaxSide, a, b};
}

}  // namespace mmp
