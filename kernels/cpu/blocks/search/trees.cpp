#include "cpu/blocks/search/trees.h"

#include <algorithm>

namespace mmp {

BlockTreeSearch::BlockTreeSearch(const uint8_t* source, int height, int width,
                                 BlockTrees& the_trees, const RateOptions& options,
                                 const SearchKernel& kernel, ThreadTeam& team)
    : trees(the_trees),
      source_(source),
      height_(height),
      width_(width),
      costs_(trees.picture, options),
      search_(trees.picture, costs_, kernel, team) {
    trees.search = &search_;
}

void BlockTreeSearch::start(int64_t lambda_fixed) {
    if (costs_.weigh(lambda_fixed)) search_.weigh();
    costs_.refresh();
}

void BlockTreeSearch::search_area() {
    const Fragment area = trees.area_of(wanted_.front().block);
    uint8_t samples[kFragmentArea] = {};
    const int columns = std::min(kFragmentSize, width_ - area.column);
    for (int i = 0; i < std::min(kFragmentSize, height_ - area.row); ++i)
        std::copy_n(source_ + size_t(area.row + i) * width_ + area.column, columns,
                    samples + i * kFragmentSize);
    for (const auto& [block, bound] : wanted_) {
        const auto [scale, k, l] = BlockSegment(block);
        search_.require(scale, k, l, bound);
    }
    search_.search(samples, area);
}

}  // namespace mmp
