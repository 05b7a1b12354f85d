// Rebuilds the samples of fragments from their plans: the second pass of decoding, after
// BlockCoder has read the symbols.
#pragma once

#include <vector>

#include "cpu/blocks/coder.h"

namespace mmp {

template <class Sample>
class BlockBuilder {
public:
    // Writes samples and units of `picture`. `trees` is null without a dictionary.
    BlockBuilder(BlockPicture<Sample>& picture, const BlockTools& tools, const BlockTrees* trees)
        : picture_(picture), tools_(tools), trees_(trees) {}

    // Rebuilds the fragment that begins at (row, column). All fragments before it in coding order
    // must be rebuilt. The coefficients of the plan are overwritten.
    void build(int row, int column, BlockPlan& plan);

private:
    void visit(const BlockPlace& block);
    void build_predicted(const BlockPlace& block, const BlockNode& node);
    void build_tree(const BlockPlace& block, const BlockNode& node);

    BlockPicture<Sample>& picture_;
    const BlockTools& tools_;
    const BlockTrees* trees_;
    std::vector<Node> tree_;  // tree of the current block
    BlockPlan* plan_ = nullptr;
    size_t next_ = 0;
};

}  // namespace mmp
