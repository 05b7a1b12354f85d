// The encoder's search for the plan (partition, modes, levels) of a fragment.
#pragma once

#include <stdint.h>

#include "cpu/blocks/search/bench.h"

namespace mmp {

template <class Sample>
class BlockSearch {
public:
    // `source` and `coarse` have the padded size of the picture; `trees` is null without a
    // dictionary. The threads of `team` share the rough search of a fragment.
    BlockSearch(const Sample* source, const BlockPicture<Sample>& picture,
                const BlockPicture<Sample>& coarse, const BlockTools& tools,
                const StepChanges& changes, const CellWeights& weights, const BlockEffort& effort,
                BlockTreeSearch* trees, ThreadTeam& team);

    // Finds the plan of least cost for the fragment that begins at (row, column).
    void find(int row, int column, const BlockModels& models, const BlockCosts& costs,
              BlockPlan& plan);
    // Writes the decoded samples and the units of the plan to the picture.
    void write(BlockPicture<Sample>& picture) const { write(picture, fragment_, *best_); }

private:
    static void gather(const BlockPlace& block, const Outcome<Sample>& outcome, BlockPlan& plan);
    static void write(BlockPicture<Sample>& picture, const BlockPlace& block,
                      const Outcome<Sample>& outcome);

    const BlockPicture<Sample>& picture_;
    const BlockTools tools_;
    const StepChanges& changes_;
    ThreadTeam& team_;
    RoughSearch<Sample> rough_search_;
    BlockBench<Sample> bench_;
    BlockPlace fragment_{};
    const Outcome<Sample>* best_ = nullptr;
};

}  // namespace mmp
