// Mode decision of blocks on a canvas: a copy of the decoded samples in and around one fragment.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/blocks/search/findings.h"
#include "cpu/blocks/search/rough_search.h"

namespace mmp {

template <class Sample>
class BlockBench {
public:
    using Found = const Outcome<Sample>*;

    // `source` has the padded size of the picture; `trees` is null without a dictionary.
    BlockBench(const Sample* source, const BlockPicture<Sample>& picture, const BlockTools& tools,
               const CellWeights& weights, const BlockEffort& effort,
               const RoughSearch<Sample>& rough_search, const BlockTrees* trees);

    // `step` is the quantisation step of the fragment.
    void start(const BlockPlace& fragment, int32_t step, const BlockPicture<Sample>& picture,
               const BlockModels& models, const BlockCosts& costs);

    // Returns the best plan that costs less than `bound`, or null. It is valid until the next
    // start().
    Found search(const BlockPlace& block, int64_t bound);

private:
    Found whole(const BlockPlace& block, int64_t bound);
    Found split(const BlockPlace& block, int flag, int64_t bound);
    bool worthwhile(const BlockPlace& block, int flag) const;

    // Rows and columns of the canvas before the fragment: enough for every place of template
    // matching.
    static constexpr int kMargin = kTemplateColumns + kUnit;
    static_assert(kMargin >= 2 * kReach && kMargin >= kTemplateRows + kTemplateWidth);
    static constexpr int kUnitsAcross = kMaxSide >> kUnitLog2;

    // Result of the latest search over a block of the fragment, whatever its neighbours were then:
    // the least cost, and the cost with each flag. If no plan was below the bound, the bound is
    // stored. 0: not searched.
    struct Latest {
        int64_t least = 0, with_flag[kBlockFlags] = {};
    };
    // A flag of a block with its latest cost or, if it was not tried, its estimate.
    struct Way {
        int flag;
        int64_t cost;
        bool was_tried;
    };

    Latest& latest(const BlockPlace& block) {
        return latest_[number_in(block, fragment_.row, fragment_.column)];
    }
    int impatience() const;
    int again() const;
    int64_t expected(const BlockPlace& block);
    int ways_of(const BlockPlace& block, Way* ways);
    int surroundings(const BlockPlace& block, uint32_t* around) const;
    int64_t flag_cost(const BlockPlace& block, int flag) const;
    void try_modes(const BlockPlace& block, const Sample* source, int64_t given,
                   Trial<Sample>& trial);
    void show(const BlockPlace& block, const Outcome<Sample>& outcome);
    void hide(const BlockPlace& block);
    void number_units(const BlockPlace& block, uint32_t number);

    const Sample* source_;
    BlockPicture<Sample> canvas_;
    BlockTools tools_;  // step is the step of the fragment
    const CellWeights& weights_;
    const BlockEffort effort_;
    const RoughSearch<Sample>& rough_search_;
    const BlockTrees* trees_;
    BlockPlace fragment_{};
    const BlockModels* models_ = nullptr;
    const BlockCosts* costs_ = nullptr;
    Scratch scratch_;
    Findings<Sample> findings_;
    std::vector<Latest> latest_;  // by block number
    uint32_t leaves_ = 0;  // number of leaves found in this fragment
    int tried_ = 0;        // number of blocks of this fragment tried as leaves
    // Number of the leaf that covers each unit of the fragment on the canvas; 0: none.
    uint32_t shown_[kUnitsAcross][kUnitsAcross] = {};
};

}  // namespace mmp
