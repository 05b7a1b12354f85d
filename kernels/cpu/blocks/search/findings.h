// The results of searches over blocks, kept for equal surroundings.
#pragma once

#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "cpu/blocks/coder.h"
#include "cpu/blocks/search/trees.h"
#include "cpu/runtime/scratch.h"

namespace mmp {

// The best plan of a block: a leaf, or a split whose parts have plans of their own.
template <class Sample>
struct Outcome {
    int64_t cost;
    uint32_t number;  // no other leaf of the fragment has it
    BlockNode node;
    const Outcome* parts[kMostParts];  // null for a leaf, and for a part outside the picture
    const Sample* samples;     // of a leaf
    const int16_t* levels;     // of a leaf that is transformed
    const FoundTree* tree;     // of a leaf that is a tree
};

// The result of a search over a block and the surroundings that it depends on. If no plan costs
// less than `bound`, the outcome is null.
template <class Sample>
struct Finding {
    uint32_t* around;
    int64_t bound;
    const Outcome<Sample>* outcome;
};

// The latest findings of each block of a fragment.
template <class Sample>
class Findings {
public:
    Findings() : findings_(kPlacedBlocks * kMost), counts_(kPlacedBlocks) {}

    void clear() { std::fill(counts_.begin(), counts_.end(), 0); }

    // Returns the finding of a block with these surroundings, or null.
    Finding<Sample>* find(int block, const uint32_t* around, int count) {
        Finding<Sample>* findings = &findings_[block * kMost];
        for (int i = 0; i < std::min<int>(counts_[block], kMost); ++i)
            if (!memcmp(findings[i].around, around, count * sizeof *around)) return &findings[i];
        return nullptr;
    }
    // Adds a finding, in the place of the oldest one if the block has many.
    void add(int block, const uint32_t* around, int count, int64_t bound,
             const Outcome<Sample>* outcome, Scratch& scratch) {
        const int number = counts_[block]++;
        Finding<Sample>& finding = findings_[block * kMost + number % kMost];
        if (number < kMost) finding.around = scratch.take<uint32_t>(count);
        std::copy_n(around, count, finding.around);
        finding.bound = bound, finding.outcome = outcome;
    }

private:
    static constexpr int kMost = 6;

    std::vector<Finding<Sample>> findings_;
    std::vector<uint32_t> counts_;  // of all findings added, by block
};

}  // namespace mmp
