// The rough search (rough mode decision): estimates the costs of all blocks of a fragment in
// advance, so that the search tries few of them. Decoded neighbours do not exist yet, so it
// predicts from a coarsely quantised source.
#pragma once

#include <stdint.h>

#include <utility>
#include <vector>

#include "cpu/blocks/search/differences.h"
#include "cpu/blocks/search/trees.h"
#include "cpu/blocks/search/trial.h"
#include "cpu/runtime/thread_team.h"
#include "shared/blocks/effort.h"

namespace mmp {

// Block number within the fragment that begins at (row, column).
inline int number_in(const BlockPlace& block, int row, int column) {
    return block_number({block.row - row, block.column - column, block.a, block.b});
}

struct ModeRanking;

template <class Sample>
class RoughSearch {
public:
    static constexpr int kMostModes = 12;

    // `source` and `coarse` have the padded size of the picture; `trees` is null without a
    // dictionary.
    RoughSearch(const Sample* source, const BlockPicture<Sample>& coarse, const BlockTools& tools,
                const CellWeights& weights, const BlockEffort& effort, BlockTreeSearch* trees);

    // `step` is the quantisation step of the fragment.
    void look(int row, int column, int32_t step, const BlockCosts& costs, ThreadTeam& team);

    // The promising modes of a block, as a bit mask.
    uint64_t modes(const BlockPlace& block) const { return at(block).modes; }
    bool templates(const BlockPlace& block) const { return at(block).templates; }
    // The tree of a block, or null if it is not worth a trial.
    const FoundTree* tree(const BlockPlace& block) const {
        const FoundTree& found = found_[number_in(block, row_, column_)];
        return found.nodes.empty() ? nullptr : &found;
    }
    // Whether coding the block as one predicted block may be cheaper than its tree.
    bool may_be_predicted(const BlockPlace& block) const {
        const Seen& seen = at(block);
        return seen.predicted <= worthwhile_cost(seen.whole(), effort_.slack);
    }
    // Bit mask: bit f is set if flag f is worth a trial for this block.
    int worthwhile(const BlockPlace& block) const;
    // Estimated cost of a block: the least one, and the one with a given flag.
    int64_t estimate(const BlockPlace& block) const { return at(block).least; }
    int64_t estimate(const BlockPlace& block, int flag) const {
        return flag == kLeaf ? at(block).whole() : split_cost(block, flag);
    }

private:
    struct Seen {
        uint64_t modes;
        int64_t predicted, tree;  // estimated cost of a leaf: as predicted block, as tree
        int64_t least;            // least estimated cost, splits included
        uint8_t best[2];          // modes of least SATD
        bool templates;           // whether templates may predict the block or a part of it
        bool settled;             // aligned square whose parts the rough search skips (early termination)
        int64_t whole() const { return predicted < tree ? predicted : tree; }
    };

    Seen& at(const BlockPlace& block) { return seen_[number_in(block, row_, column_)]; }
    const Seen& at(const BlockPlace& block) const {
        return seen_[number_in(block, row_, column_)];
    }
    int64_t split_cost(const BlockPlace& block, int flag) const;
    void look_at(const BlockPlace& block, const BlockCosts& costs);
    void look_at_angles(const BlockPlace& block, const BlockCosts& costs,
                        ModeDifferences<Sample>& of_modes, ModeRanking& ranking);
    bool is_settled(const BlockPlace& block) const;
    std::pair<int, int> reach_of(const BlockPlace& block) const;
    uint64_t inherited_modes(const BlockPlace& block) const;
    uint64_t overlapping_modes(const BlockPlace& block) const;
    uint64_t modes_around(const BlockPlace& block) const;
    template <class Work>
    void for_blocks(int a, int b, const Work& work);
    // Calls work(block) for blocks of 2^a x 2^b samples that only ternary splits create.
    template <class Work>
    void for_displaced(int a, int b, const Work& work);
    // Calls work(block) for each block of the fragment, bottom-up: parts before their parent.
    template <class Work>
    void for_parts_first(const Work& work);
    void weigh_splits();
    void look_for_trees(const BlockCosts& costs);
    bool decoded_before(const BlockPlace& block, int row, int column) const;

    const BlockPicture<Sample>& coarse_;
    const Sample* source_;
    const BlockTools tools_;
    const CellWeights& weights_;
    int32_t step_ = 0;  // equivalent step of independent levels
    const BlockEffort effort_;
    BlockTreeSearch* trees_;
    int row_ = 0, column_ = 0;
    int64_t split_penalty_ = 0;
    std::vector<Seen> seen_;
    std::vector<FoundTree> found_;  // by block number; without nodes if the block has no tree
};

}  // namespace mmp
