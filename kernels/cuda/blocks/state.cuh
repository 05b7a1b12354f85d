// What the device holds of a picture while it is encoded by predicted blocks.
//
// mmpcodec/backends/cuda/blocks_state.py lays the same structures out; a test compares the sizes.
#pragma once

#include "shared/blocks/models.h"
#include "shared/blocks/search.h"
#include "shared/blocks/prediction.h"

namespace mmp {

constexpr int kBlockThreads = 128;
constexpr int kBlockWarps = kBlockThreads / 32;
constexpr int kMostSurveyed = 12, kMostTried = 8, kMostRough = 4;
constexpr int kMostWorkers = 16;  // of a picture
constexpr int kPlanNodes = 511;

// Places of a fragment's blocks: each side is halved like a heap, 0 the whole side, 1 and 2 its
// halves and so on; a block is a pair of these.
constexpr int kHeap = 2 * (kMaxSide >> kUnitLog2) - 1;
constexpr int kBlocks = kHeap * kHeap;

// A block of a fragment, in samples from the fragment's first.
struct Place {
    int row, column, a, b;

    MMP_HD int height() const { return 1 << a; }
    MMP_HD int width() const { return 1 << b; }
    MMP_HD int area() const { return 1 << (a + b); }
    MMP_HD int number() const { return heap_number(row, a) * kHeap + heap_number(column, b); }

    MMP_HD static int heap_number(int start, int log2) {
        return (1 << (kMaxSideLog2 - log2)) - 1 + (start >> log2);
    }
    MMP_HD static Place of(int number) {
        const int down = number / kHeap + 1, across = number % kHeap + 1;
        const int a = kMaxSideLog2 - floor_log2(down), b = kMaxSideLog2 - floor_log2(across);
        return {(down << a) - kMaxSide, (across << b) - kMaxSide, a, b};
    }
};

enum Split { kWhole, kSplitColumns, kSplitRows };

MMP_HD Place half_of(const Place& block, int split, int half) {
    if (split == kSplitColumns)
        return {block.row, block.column + half * (block.width() >> 1), block.a, block.b - 1};
    return {block.row + half * (block.height() >> 1), block.column, block.a - 1, block.b};
}

MMP_HD bool may_split(const Place& block, int split) {
    return (split == kSplitColumns ? block.b : block.a) > kMinSideLog2;
}

// Tables that depend on nothing.
struct BlockTables {
    // By type, side, frequency and sample; and the last two the other way round.
    int16_t basis[2][kSides][kMaxSide][kMaxSide];
    int16_t turned[2][kSides][kMaxSide][kMaxSide];
    uint32_t scan[kShapes][kMaxCoded];   // of coefficients in scan order, see ScanPlace
    uint16_t order[kShapes][kMaxCoded];  // numbers in scan order of coefficients row by row
    uint16_t by_area[kBlocks];           // numbers of blocks, those of most coefficients first
    uint16_t unused;
};

// Where a coefficient lies: among those of its block row by row; in an array of their magnitudes
// with two more columns and rows; and the class of its frequency.
struct ScanPlace {
    int place, margin, frequency;

    MMP_HD explicit ScanPlace(uint32_t packed)
        : place(packed & 1023), margin(packed >> 10 & 2047), frequency(packed >> 21) {}
};
// All blocks of one shape need at most so much, those of 4x4.
constexpr int kMarginArea = kMaxBlockArea / 16 * 36;
constexpr int kMostMargins = (kCodedSide + 2) * (kCodedSide + 2);

// What templates can see: the decoded picture around the fragment's first sample, and some that they
// only read. Each worker has a copy in its memory.
constexpr int kWindowAbove = kTemplateRows + kUnit, kWindowLeft = kTemplateColumns + kUnit;
constexpr int kWindowRows = kWindowAbove + kMaxSide + kUnit;
constexpr int kWindowColumns = kWindowLeft + 2 * kMaxSide;
constexpr int kWindowBytes = kWindowRows * kWindowColumns;

// How a node of a plan is packed.
MMP_HD constexpr uint16_t pack_block(int split, int mode, int kind, int type) {
    return uint16_t(split | mode << 2 | kind << 8 | type << 9);
}
MMP_HD constexpr int split_of(uint16_t node) { return node & 3; }
MMP_HD constexpr int mode_of(uint16_t node) { return node >> 2 & 63; }
MMP_HD constexpr int kind_of(uint16_t node) { return node >> 8 & 1; }
MMP_HD constexpr int type_of(uint16_t node) { return node >> 9 & 1; }

// What a worker has found for a block, in its own memory: this, then the nodes in coding order,
// the units, the samples, the levels of each block from its first sample on, and what it depends on.
struct Record {
    int64_t cost;   // kNever: none costs less than the bound
    int64_t bound;
    int32_t nodes;  // how many
    int32_t unused[3];
};

// What a search over a block depends on: this much of what is decoded above and left of it.
constexpr int kReach = 8;
constexpr int kSurroundingWords = 1 + kUnit;  // of each unit: what it is, and its samples
MMP_HD constexpr int surrounding_units(int a, int b) {
    const int length = (1 << a) + (1 << b), beyond = (1 << b) + kReach;
    return 2 * ((kReach + larger(length, beyond)) / kUnit) + 2 * (length / kUnit);
}
// And of all else in the fragment, where templates may count, so much of a hash.
constexpr int kHashWords = 4;
MMP_HD constexpr int surrounding_words(int a, int b) {
    return surrounding_units(a, b) * kSurroundingWords + kHashWords;
}
constexpr int kMostSurroundings = surrounding_words(kMaxSideLog2, kMaxSideLog2);

// Offsets within a record, in bytes, and the size of all.
struct RecordLayout {
    int nodes = 0, units = 0, samples = 0, levels = 0, surroundings = 0, size = 0;

    MMP_HD constexpr RecordLayout(int a, int b) {
        const int area = 1 << (a + b), count = area >> (2 * kUnitLog2);
        nodes = sizeof(Record);
        units = nodes + 2 * count * int(sizeof(uint16_t));
        samples = units + count * int(sizeof(Unit));
        levels = samples + area;
        surroundings = levels + area * int(sizeof(int16_t));
        const int end = surroundings + surrounding_words(a, b) * 4;
        size = (end + 15) / 16 * 16;
    }
};

// Of each block there are some records; two are being made, the others are what was found before.
constexpr int kSlots = 6;
struct Findings {
    uint32_t hash[kSlots];  // of what each depends on, 0 where there is none
    uint32_t spare, next;   // slots that records are made in: a free one, and the oldest
};

// What the workers of a picture tell each other: the best way that each of two teams found.
struct Mail {
    int64_t cost[2];
    const uint8_t* record[2];
};

// What stays the same while a picture is encoded. Each worker keeps a copy at hand.
struct BlockPicture {
    const BlockTables* tables;
    const int32_t* rates;  // log2_rate of every total that a model can have
    const uint8_t* source;
    uint8_t* coarse;   // the source as a coder of this step might leave it
    uint8_t* samples;  // decoded
    Unit* units;
    // What the survey finds of the fragments of one launch: promising modes; of some modes the
    // energy of what they leave and its coefficients in scan order.
    uint64_t* modes;        // (chunk, kBlocks)
    int32_t* energies;      // (chunk, kBlocks, rough)
    int16_t* coefficients;  // (chunk, rough, kShapes, kMaxBlockArea)
    int16_t* levels;        // (rough, kShapes, kMaxBlockArea), of one fragment in scan order
    uint8_t* magnitudes;    // (rough, kShapes, kMarginArea), of one fragment; zero between uses
    int64_t* rough_costs;   // (kBlocks, kMostRough), of one fragment
    // The plans of all fragments in coding order:
    uint16_t* plan_nodes;   // (fragments, kPlanNodes)
    uint32_t* plan_counts;  // (fragments)
    int16_t* plan_levels;   // (fragments, kMaxBlockArea)
    uint8_t* findings;      // of each worker: kBlocks Findings, then their records
    int64_t worker_bytes;
    int64_t lambda_fixed;
    int32_t height, width;  // multiples of 4
    int32_t fragment_log2, least_squares, step, root;
    int32_t surveyed, tried, rough, slack, templates, matching;
};

struct BlockState {
    BlockPicture picture;
    BlockModels models;  // between launches
    Mail mail[2 * kMostWorkers];
    uint32_t arrived[2 * kMostWorkers];  // at the barriers of the teams
};

}  // namespace mmp
