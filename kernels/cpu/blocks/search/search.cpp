#include "cpu/blocks/search/search.h"

namespace mmp {

template <class Sample>
BlockSearch<Sample>::BlockSearch(const Sample* source, const BlockPicture<Sample>& picture,
                                 const BlockPicture<Sample>& coarse, const BlockTools& tools,
                                 const StepChanges& changes, const CellWeights& weights,
                                 const BlockEffort& effort, BlockTreeSearch* trees,
                                 ThreadTeam& team)
    : picture_(picture),
      tools_(tools),
      changes_(changes),
      team_(team),
      rough_search_(source, coarse, tools, weights, effort, trees),
      bench_(source, picture, tools, weights, effort, rough_search_,
             trees ? &trees->trees : nullptr) {}

template <class Sample>
void BlockSearch<Sample>::find(int row, int column, const BlockModels& models,
                               const BlockCosts& costs, BlockPlan& plan) {
    fragment_ = {row, column, tools_.fragment_log2, tools_.fragment_log2};
    const int32_t step = step_at(tools_.step, changes_.at(row, column));
    rough_search_.look(row, column, step, costs, team_);
    bench_.start(fragment_, step, picture_, models, costs);
    best_ = bench_.search(fragment_, kNever);
    plan.clear();
    gather(fragment_, *best_, plan);
}

// Appends the nodes of a plan in coding order.
template <class Sample>
void BlockSearch<Sample>::gather(const BlockPlace& block, const Outcome<Sample>& outcome,
                                 BlockPlan& plan) {
    BlockNode node = outcome.node;
    if (outcome.levels) {
        node.levels = uint32_t(plan.levels.size());
        plan.levels.insert(plan.levels.end(), outcome.levels,
                           outcome.levels + scan_of(block.a, block.b).count);
    } else if (outcome.tree) {
        node.levels = uint32_t(plan.trees.size());
        node.count = uint32_t(outcome.tree->nodes.size());
        plan.trees.insert(plan.trees.end(), outcome.tree->nodes.begin(),
                          outcome.tree->nodes.end());
    }
    plan.nodes.push_back(node);
    for (int part = 0; part < kMostParts; ++part)
        if (outcome.parts[part])
            gather(part_of(block, node.flag, part), *outcome.parts[part], plan);
}

template <class Sample>
void BlockSearch<Sample>::write(BlockPicture<Sample>& picture, const BlockPlace& block,
                                const Outcome<Sample>& outcome) {
    if (outcome.samples) picture.write(block, outcome.samples);
    for (int part = 0; part < kMostParts; ++part)
        if (outcome.parts[part])
            write(picture, part_of(block, outcome.node.flag, part), *outcome.parts[part]);
}

template class BlockSearch<uint8_t>;
template class BlockSearch<uint16_t>;

}  // namespace mmp
