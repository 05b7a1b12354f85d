#include "cpu/trees/plan_coder.h"

#include "shared/trees/node.h"

namespace mmp {

TreeCoder::TreeCoder(Plane plane, const Tools& tools)
    : models_(tools), cells_(plane.height, plane.width), insertions_(kScales) {
    for (int scale = 0; scale < kScales; ++scale) counts_.emplace_back(scale, tools, SIZE_MAX, arena_);
}

void TreeCoder::insert(int scale, uint32_t insertions, const ChosenTrees& trees) {
    ElementCounts& counts = counts_[scale];
    uint32_t& done = insertions_[scale];
    const bool start = done == 0;
    for (; done < insertions; ++done) {
        const uint8_t c = trees.first_class[scale * trees.room + done % trees.room];
        const uint32_t index = counts.place();
        if (index == counts.size())
            counts.add(c);
        else if (index != kNoIndex)
            counts.restart(index, c);
    }
    if (start) counts.keep_all();
}

void TreeCoder::code(const ChosenTrees& trees) {
    const uint32_t* node = trees.nodes;
    for (size_t fragment = 0; fragment < trees.fragments; ++fragment) {
        for (int scale = 0; scale < kScales; ++scale)
            insert(scale, trees.insertions[fragment * kScales + scale], trees);
        for (const uint32_t* end = node + trees.node_counts[fragment]; node < end; ++node) {
            const int scale = packed_scale(*node), flag = packed_flag(*node);
            models_.encode_flag(coder_, scale, packed_context(*node), flag);
            if (flag != kLeaf) continue;
            models_.encode_index(coder_, counts_[scale], packed_index(*node));
            counts_[scale].use(packed_index(*node));
        }
        const int row = fragments_ / cells_.columns(), column = fragments_ % cells_.columns();
        cells_.grow_to(models_.tally.sum(), row * kFragmentSize, column * kFragmentSize,
                       kFragmentSize, kFragmentSize);
        ++fragments_;
    }
}

}  // namespace mmp
