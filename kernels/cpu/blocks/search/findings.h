// Cache of search results, valid for equal context: the same block with the same leaves around it.
#pragma once

#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "cpu/blocks/coder.h"
#include "cpu/blocks/search/trees.h"
#include "cpu/runtime/scratch.h"

namespace mmp {

// The best plan of a block: a leaf, or a split with a plan for each part.
template <class Sample>
struct Outcome {
    int64_t cost;
    uint32_t number;  // unique among the leaves of the fragment
    BlockNode node;
    const Outcome* parts[kMostParts];  // null for leaves and for parts outside the picture
    const Sample* samples;     // decoded samples, for a leaf
    const int16_t* levels;     // for a leaf with a residual
    const FoundTree* tree;     // for a leaf that is a tree
};

// Result of a search over a block, with the leaf numbers around it that the result depends on.
// `outcome` is null if no plan costs less than `bound`.
template <class Sample>
struct Finding {
    uint32_t* around;
    int64_t bound;
    const Outcome<Sample>* outcome;
};

// The latest findings of each block of a fragment: a ring of kMost findings per block.
template <class Sample>
class Findings {
public:
    Findings() : findings_(kBlocks * kMost), counts_(kBlocks) {}

    void clear() { std::fill(counts_.begin(), counts_.end(), 0); }

    // Returns the finding of a block with these leaf numbers around it, or null.
    Finding<Sample>* find(int block, const uint32_t* around, int count) {
        Finding<Sample>* findings = &findings_[block * kMost];
        for (int i = 0; i < std::min<int>(counts_[block], kMost); ++i)
            if (!memcmp(findings[i].around, around, count * sizeof *around)) return &findings[i];
        return nullptr;
    }
    // Adds a finding; if the block has kMost findings, it replaces the oldest one.
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
    std::vector<uint32_t> counts_;  // number of findings ever added, by block
};

}  // namespace mmp
