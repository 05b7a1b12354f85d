// Trees among predicted blocks: their syntax in both directions, and the learning of the
// dictionaries. Source: section "Trees among blocks" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <array>
#include <vector>

#include "cpu/blocks/picture.h"
#include "cpu/trees/search/tree.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

// Returns the first row or column of the 16x16 area that holds a place.
inline int area_start(int place) { return place & ~(kFragmentSize - 1); }

// A block of at most 16x16 samples as a segment of its 16x16 area.
struct BlockSegment {
    explicit BlockSegment(const BlockPlace& block)
        : scale(scale_number(kMaxTreeLog2 - block.a, kMaxTreeLog2 - block.b)),
          k((block.row - area_start(block.row)) >> block.a),
          l((block.column - area_start(block.column)) >> block.b) {}
    int scale, k, l;
};

class BlockTrees {
public:
    // Pads the plane to multiples of 4, as predicted blocks do.
    BlockTrees(Plane plane, const Tools& tools, int fragment_log2, ThreadTeam& team);

    // Models and dictionaries. Decoded samples are copied into it before the dictionaries learn.
    Picture picture;
    // Search that must be notified when the dictionaries change; null in a decoder.
    TreeSearch* search = nullptr;

    // Whether a block may be a tree.
    bool allowed(const BlockPlace& block) const {
        return block.a <= kMaxTreeLog2 && block.b <= kMaxTreeLog2 && is_aligned(block) &&
               scale_reachable(BlockSegment(block).scale, picture.tools.partition);
    }
    // Returns the 16x16 area of a block, with the leaf scales around the fragment.
    Fragment area_of(const BlockPlace& block) const {
        return picture.fragment(area_start(block.row), area_start(block.column),
                                1 << fragment_log2_);
    }

    void encode(RangeEncoder& coder, const BlockPlace& block, const std::vector<Node>& nodes);
    void decode(RangeDecoder& coder, const BlockPlace& block, std::vector<Node>& nodes);
    // Reconstructs a block from its tree, row by row.
    void build(const BlockPlace& block, const std::vector<Node>& nodes, uint8_t* out) const;

    // Records the next block of the fragment in coding order: a tree, or, without nodes, a
    // predicted block.
    void mark(const BlockPlace& block, int height, int width, const std::vector<Node>& nodes);
    // Updates the dictionaries and models from the fragment at (row, column), whose samples are in
    // `decoded`.
    void learn(int row, int column, const BlockPicture<uint8_t>& decoded);

private:
    static constexpr int kAreasAcross = kMaxSide >> kFragmentLog2;

    const int fragment_log2_;
    ThreadTeam& team_;
    // Nodes of the trees, by 16x16 area of the fragment.
    std::array<std::vector<Node>, kAreasAcross * kAreasAcross> nodes_;
};

}  // namespace mmp
