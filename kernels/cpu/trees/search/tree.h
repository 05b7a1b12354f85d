// The search for the tree of exactly the least Lagrangian cost of one fragment.
//
// Segments are searched from the whole fragment down. A segment is searched only while some tree
// through it can still win: its budget is the lesser of its parent's budget and its parent's cost
// as a leaf, less the cost of the split flag and the least cost of the other half.
// docs/decisions/0004-exact-pruning.md shows that the tree is that of the full cost map.
#pragma once

#include <stdint.h>

#include <array>
#include <vector>

#include "cpu/trees/search/costs.h"
#include "cpu/trees/picture.h"
#include "cpu/trees/search/index.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

class TreeSearch {
public:
    TreeSearch(const Picture& picture, const Costs& costs, const SearchKernel& kernel,
                   ThreadTeam& team);

    // Adds an element that is new in the dictionary of the scale or has replaced another one.
    void added(int scale, uint32_t element);

    // Updates an element's cost after its use; ElementCounts::use returned `all_changed`.
    void used(int scale, uint32_t element, bool all_changed);

    // Finds the cheapest tree of 16x16 samples; nodes in coding order.
    void find_tree(const uint8_t* source, const Fragment& fragment, std::vector<Node>& nodes);

    // Searches single segments for trees that cost less than a budget: require each one, search,
    // then ask for each cost, which is exact below the budget.
    void require(int scale, int k, int l, int64_t budget);
    void search(const uint8_t* source, const Fragment& fragment);
    int64_t cost(int scale, int k, int l) const {
        return segments_[segment_address(scale, k, l)].cost;
    }
    // Appends the nodes of the best tree of a segment.
    void collect(int scale, int k, int l, std::vector<Node>& nodes);

private:
    struct Segment {
        int64_t budget;  // only cheaper trees matter; -1 while no tree is needed
        int64_t cost;    // of the best tree found, or kNoCost
        uint32_t index;
        uint8_t flag;
        uint8_t tried;  // bit set of split flags whose halves were searched
    };
    struct Place {
        uint8_t scale, k, l;
    };

    static constexpr int64_t kNoCost = INT64_MAX / 8;

    void search_leaf(const uint8_t* source, const Fragment& fragment, Place place);
    void plan_splits(const Fragment& fragment, Place place);
    void choose(const Fragment& fragment, Place place);
    Segment& at(int scale, int k, int l) { return segments_[segment_address(scale, k, l)]; }

    const Picture& picture_;
    const Costs& costs_;
    const SearchKernel& kernel_;
    ThreadTeam& team_;
    std::vector<SearchIndex> indexes_;  // by scale
    std::array<Segment, kSegments> segments_;
    std::array<std::vector<Place>, 2 * kFragmentLog2 + 1> needed_;  // by depth
};

}  // namespace mmp
