#include "tree_coder.h"

#include "../shared/packed_node.h"

namespace mmp {

TreeCoder::TreeCoder(const Tools& tools) : limit_(tools.dictionary_limit), models_(tools) {
    for (int scale = 0; scale < kScales; ++scale) counts_.emplace_back(scale, tools);
}

void TreeCoder::code(const ChosenTrees& trees) {
    const uint32_t* node = trees.nodes;
    for (size_t fragment = 0; fragment < trees.fragments; ++fragment) {
        for (size_t scale = 0; scale < kScales; ++scale) {
            const uint8_t* first_class = trees.first_class + scale * limit_;
            ElementCounts& counts = counts_[scale];
            while (counts.size() < trees.sizes[fragment * kScales + scale])
                counts.add(first_class[counts.size()]);
        }
        for (const uint32_t* end = node + trees.node_counts[fragment]; node < end; ++node) {
            const int scale = packed_scale(*node), flag = packed_flag(*node);
            models_.encode_flag(coder_, scale, packed_context(*node), flag);
            if (flag != kLeaf) continue;
            models_.encode_index(coder_, counts_[scale], packed_index(*node));
            counts_[scale].use(packed_index(*node));
        }
    }
}

}  // namespace mmp
