#include "cpu/blocks/trees.h"

#include <algorithm>

namespace mmp {

BlockTrees::BlockTrees(Plane plane, const Tools& tools, int fragment_log2, ThreadTeam& team)
    : picture(plane, tools, kUnit), fragment_log2_(fragment_log2), team_(team) {}

void BlockTrees::encode(RangeEncoder& coder, const BlockPlace& block,
                        const std::vector<Node>& nodes) {
    picture.encode_tree(coder, area_of(block), nodes,
                        [&](int scale, uint32_t index, bool all_changed) {
                            if (search) search->used(scale, index, all_changed);
                        });
}

void BlockTrees::decode(RangeDecoder& coder, const BlockPlace& block, std::vector<Node>& nodes) {
    const BlockSegment segment(block);
    picture.decode_tree(coder, area_of(block), segment.scale, segment.k, segment.l, nodes);
}

void BlockTrees::build(const BlockPlace& block, const std::vector<Node>& nodes,
                       uint8_t* out) const {
    const int top = block.row - area_start(block.row);
    const int left = block.column - area_start(block.column);
    for (const Node& node : nodes) {
        if (node.flag != kLeaf) continue;
        const auto [samples, stride] = picture.leaf_samples(node);
        const int height = scale_height(node.scale), width = scale_width(node.scale);
        uint8_t* first = out + (node.top() - top) * block.width() + node.left() - left;
        for (int i = 0; i < height; ++i)
            std::copy_n(samples + i * stride, width, first + i * block.width());
    }
}

void BlockTrees::mark(const BlockPlace& block, int height, int width,
                      const std::vector<Node>& nodes) {
    if (nodes.empty()) return picture.mark_no_leaf(block.row, block.column, height, width);
    picture.mark_leaves(area_of(block), nodes);
    const int inside = (1 << fragment_log2_) - 1;
    const int area = ((block.row & inside) >> kFragmentLog2) * kAreasAcross +
                     ((block.column & inside) >> kFragmentLog2);
    nodes_[area].insert(nodes_[area].end(), nodes.begin(), nodes.end());
}

void BlockTrees::learn(int row, int column, const BlockPicture<uint8_t>& decoded) {
    const int side = 1 << fragment_log2_;
    for (int i = 0; i < side && row + i < decoded.height; i += kFragmentSize)
        for (int j = 0; j < side && column + j < decoded.width; j += kFragmentSize) {
            auto& nodes = nodes_[(i * kAreasAcross + j) >> kFragmentLog2];
            const Fragment area = picture.fragment(row + i, column + j, side);
            picture.take(area, decoded.at(0, 0));
            team_.run(kLevels, [&](uint32_t m) {
                picture.learn(static_cast<int>(m), nodes, [&](int scale, uint32_t element) {
                    if (search) search->added(scale, element);
                });
            });
            nodes.clear();
            if (picture.copies && picture.add_copies(area) && search) search->learn_copies();
        }
}

}  // namespace mmp
