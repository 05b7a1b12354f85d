// Search for the cheapest tree of each block among predicted blocks.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/blocks/trees.h"

namespace mmp {

struct FoundTree {
    int64_t cost;  // distortion + lambda * rate of the tree's flags and indices
    std::vector<Node> nodes;
};

class BlockTreeSearch {
public:
    // `source` has the padded size of the picture.
    BlockTreeSearch(const uint8_t* source, int height, int width, BlockTrees& trees,
                    const RateOptions& options, const SearchKernel& kernel, ThreadTeam& team);
    ~BlockTreeSearch() { trees.search = nullptr; }

    BlockTrees& trees;

    // Computes the costs of all symbols from the models and lambda. Call before each fragment.
    void start(int64_t lambda_fixed);
    // Requests the best tree of a block; it is found only if it costs less than `bound`.
    void want(const BlockPlace& block, int64_t bound) { wanted_.push_back({block, bound}); }
    // Searches the requested trees, whose blocks lie in one 16x16 area. Calls found(block, tree)
    // for each.
    template <class Found>
    void find(const Found& found) {
        if (wanted_.empty()) return;
        search_area();
        for (const auto& [block, bound] : wanted_) {
            const auto [scale, k, l] = BlockSegment(block);
            FoundTree tree{search_.cost(scale, k, l), {}};
            if (tree.cost >= bound) continue;
            search_.collect(scale, k, l, tree.nodes);
            found(block, tree);
        }
        wanted_.clear();
    }

private:
    struct Wanted {
        BlockPlace block;
        int64_t bound;
    };

    void search_area();

    const uint8_t* source_;
    const int height_, width_;
    Costs costs_;
    TreeSearch search_;
    std::vector<Wanted> wanted_;
};

}  // namespace mmp
