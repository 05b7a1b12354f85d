// Exact search for the tree of least Lagrangian cost of one fragment, by branch and bound.
//
// It proceeds top-down from the whole fragment. A segment is searched only while a tree through it
// can still win: its budget is the smaller of its parent's budget and its parent's cost as a leaf,
// minus the cost of the split flag and a lower bound of the cost of the other half.
// docs/decisions/0004-exact-pruning.md proves that the tree is the one that the full cost map
// gives.
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

    // Must be called when the dictionary of the scale gets a new element or replaces one.
    void added(int scale, uint32_t element);

    // Must be called when an area of copies was added.
    void learn_copies();

    // Updates the cost of an element after its use; `all_changed` is the result of
    // ElementCounts::use().
    void used(int scale, uint32_t element, bool all_changed);
    // Updates all costs after lambda changed.
    void weigh();

    // Finds the tree of least cost for 16x16 samples; nodes in coding order.
    void find_tree(const uint8_t* source, const Fragment& fragment, std::vector<Node>& nodes);

    // Searches single segments for trees that cost less than a budget: call require() for each
    // segment, then search(), then ask for each cost; a cost is exact if it is below the budget.
    void require(int scale, int k, int l, int64_t budget);
    void search(const uint8_t* source, const Fragment& fragment);
    int64_t cost(int scale, int k, int l) const {
        return segments_[segment_address(scale, k, l)].cost;
    }
    // Appends the nodes of the best tree of a segment.
    void collect(int scale, int k, int l, std::vector<Node>& nodes);

private:
    struct Segment {
        int64_t budget;  // upper bound of useful costs; -1: no tree is needed
        int64_t cost;    // cost of the best tree found, or kNoCost
        uint32_t index;
        uint8_t flag;
        uint8_t tried;  // bit mask of the split flags whose halves were searched
    };
    struct Place {
        uint8_t scale, k, l;
    };

    static constexpr int64_t kNoCost = INT64_MAX / 8;

    void learn_copies(int scale);
    void search_copy(int scale, Query& query, Segment& segment);
    void search_leaf(const uint8_t* source, const Fragment& fragment, Place place);
    void plan_splits(const Fragment& fragment, Place place);
    void choose(const Fragment& fragment, Place place);
    Segment& at(int scale, int k, int l) { return segments_[segment_address(scale, k, l)]; }

    const Picture& picture_;
    const Costs& costs_;
    const SearchKernel& kernel_;
    ThreadTeam& team_;
    // The distinct copies of one scale.
    struct FoundCopies {
        std::unique_ptr<Dictionary> known;  // refuses copies that are redundant
        uint32_t constants;  // number of elements of a new dictionary, which are no copies
        SearchIndex index;  // of the elements after these
        // By element after these: index of the copy, number of places in its area.
        std::vector<uint32_t> copies, places;
    };

    std::vector<SearchIndex> indexes_;  // by scale
    Arena arena_;
    std::vector<FoundCopies> copies_;  // by scale; without dictionaries if it takes no copies
    std::array<Segment, kSegments> segments_;
    std::array<std::vector<Place>, 2 * kFragmentLog2 + 1> needed_;  // segments to search, by depth
};

}  // namespace mmp
