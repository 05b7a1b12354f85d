// Layout of a worker's global memory: a cache of search results for each block of a fragment.
#pragma once

#include "cuda/blocks/state.cuh"

namespace mmp {

// Head of a record (a cached search result). It is followed by the nodes in coding order, the
// units, the samples, the levels (beginning at the first sample of each block), and the context
// (samples and units around the block) for which the record is valid.
struct Record {
    int64_t cost;   // kNever: no plan costs less than `bound`
    int64_t bound;
    int32_t nodes;  // number of nodes
    int32_t unused[3];
};

constexpr int kSurroundingWords = 1 + kUnit;  // per unit around the block: its Unit and its samples
MMP_HD constexpr int surrounding_units(int a, int b) {
    const int length = (1 << a) + (1 << b), beyond = (1 << b) + kReach;
    return 2 * ((kReach + larger(length, beyond)) / kUnit) + 2 * (length / kUnit);
}
// Words of a hash of the whole fragment, added to the context of blocks that templates may predict.
constexpr int kHashWords = 4;
MMP_HD constexpr int surrounding_words(int a, int b) {
    return surrounding_units(a, b) * kSurroundingWords + kHashWords;
}
constexpr int kMostSurroundings = surrounding_words(kMaxSideLog2, kMaxSideLog2);

// Byte offsets of the parts of a record, and its size.
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

// Records of a block: two are being written, the others hold earlier results.
constexpr int kSlots = 6;
struct Findings {
    uint32_t hash[kSlots];  // hash of the context of each record; 0: no record
    uint32_t spare, next;   // slots being written: a free one, and the oldest one
};

// Size limit of Planes in memory.cuh, in bytes.
constexpr int kPlanesBytes = (7 + 7 * kMostTried + kMostTrials) * kMaxBlockArea;

// Size of a worker's global memory in bytes: Findings of all blocks, records, planes, window.
MMP_HD constexpr int64_t worker_bytes() {
    int64_t bytes = int64_t{kBlocks} * sizeof(Findings) + kPlanesBytes + kWindowBytes;
    for (int a = kMinSideLog2; a <= kMaxSideLog2; ++a)
        for (int b = kMinSideLog2; b <= kMaxSideLog2; ++b)
            bytes += int64_t{kSlots} * RecordLayout(a, b).size << (2 * kMaxSideLog2 - a - b);
    return bytes;
}

}  // namespace mmp
