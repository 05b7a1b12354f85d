// The search of one fragment: the tree of least Lagrangian cost, exactly.
//
// Segments are searched from the whole fragment down. A segment is searched only while some tree
// through it can still win: its budget is what its parent would pay without the split, less the
// flag and the least that the other half can cost. docs/decisions/0004-exact-pruning.md proves
// that this leaves the tree of the full cost map unchanged.
#pragma once

#include <array>
#include <stddef.h>
#include <stdint.h>
#include <vector>

#include "encoder.h"
#include "picture.h"
#include "search_index.h"
#include "thread_team.h"

namespace mmp {

class FragmentSearch {
public:
    FragmentSearch(Picture& picture, const EncoderOptions& options, ThreadTeam& team);

    // Element numbers `first` and up are new in this scale's dictionary.
    void added(int scale, uint32_t element);

    // The element was used; `all_changed` as Dictionary::use returned it.
    void used(int scale, uint32_t element, bool all_changed);

    // Best tree of a 16x16 residual in coding order.
    void find_tree(const uint8_t* residual, const Fragment& fragment, std::vector<Node>& nodes);

private:
    struct Segment {
        int64_t budget;  // only a tree that costs less matters
        int64_t cost;    // of the best tree found, or kNoCost
        uint32_t index;
        uint8_t flag;
        uint8_t tried;  // bit set of split flags whose halves were searched
    };
    struct Place {
        uint8_t scale, k, l;
    };

    static constexpr int64_t kNoCost = INT64_MAX / 8;

    int32_t own_cost(int scale, uint32_t element) const;
    void refresh_costs(int scale);
    void refresh_bounds();
    void search_leaf(const uint8_t* residual, const Fragment& fragment, Place place);
    void plan_splits(const Fragment& fragment, Place place);
    void require(int scale, int k, int l, int64_t budget);
    void choose(const Fragment& fragment, Place place);
    void collect(Place place, std::vector<Node>& nodes) const;
    Segment& at(int scale, int k, int l) { return segments_[segment_address(scale, k, l)]; }
    const Segment& at(int scale, int k, int l) const {
        return segments_[segment_address(scale, k, l)];
    }

    Picture& picture_;
    const EncoderOptions options_;
    ThreadTeam& team_;
    const RateTable& rates_ = RateTable::get();
    std::vector<int> scales_;  // the reachable ones
    std::vector<SearchIndex> indexes_;  // by scale
    std::array<ClassCosts, kScales> class_costs_;
    std::array<std::array<std::array<int64_t, kFlags>, kScales>, kFlagContexts> flag_cost_;
    std::array<int64_t, kScales> least_tree_;  // no tree of a segment of this scale costs less
    std::array<Segment, kSegments> segments_;
    std::array<std::vector<Place>, 2 * kFragmentLog2 + 1> needed_;  // by depth
};

}  // namespace mmp
