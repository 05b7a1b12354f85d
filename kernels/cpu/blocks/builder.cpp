#include "cpu/blocks/builder.h"

namespace mmp {

template <class Sample>
void BlockBuilder<Sample>::build(int row, int column, BlockPlan& plan) {
    plan_ = &plan;
    next_ = 0;
    visit({row, column, tools_.fragment_log2, tools_.fragment_log2});
}

template <class Sample>
void BlockBuilder<Sample>::visit(const BlockPlace& block) {
    if (picture_.is_outside(block)) return;
    const BlockNode& node = plan_->nodes[next_++];
    if (node.flag != kLeaf) {
        for (int part = 0; part < parts_of(node.flag); ++part)
            visit(part_of(block, node.flag, part));
        return;
    }
    if (node.kind == kTree)
        build_tree(block, node);
    else
        build_predicted(block, node);
    picture_.mark(block, unit_of(block, node));
}

template <class Sample>
void BlockBuilder<Sample>::build_predicted(const BlockPlace& block, const BlockNode& node) {
    Sample prediction[kMaxBlockArea];
    predict_mode(tools_, picture_, block, node.mode, prediction);
    if (node.kind == kTransformed)
        rebuild(block, node.mode, node.type, &plan_->levels[node.levels], node.extent, tools_,
                prediction, picture_.depth, picture_.at(block), picture_.stride());
    else
        picture_.write(block, prediction);
}

template <class Sample>
void BlockBuilder<Sample>::build_tree(const BlockPlace& block, const BlockNode& node) {
    if constexpr (kIsByte<Sample>) {
        const auto first = plan_->trees.begin() + node.levels;
        tree_.assign(first, first + node.count);
        uint8_t samples[kFragmentArea];
        trees_->build(block, tree_, samples);
        picture_.write(block, samples);
    }
}

template class BlockBuilder<uint8_t>;
template class BlockBuilder<uint16_t>;

}  // namespace mmp
