// The encoder's search for the plan of a fragment.
#pragma once

#include <stdint.h>

#include <memory>
#include <vector>

#include "cpu/blocks/search/survey.h"

namespace mmp {

template <class Sample>
class BlockBench;

template <class Sample>
class BlockSearch {
public:
    // `source` has the size of the picture; `trees` is null without a dictionary.
    BlockSearch(const Sample* source, const BlockPicture<Sample>& picture,
                const BlockTools& tools, const BlockEffort& effort, BlockTreeSearch* trees,
                ThreadTeam& team);
    ~BlockSearch();

    // Finds the cheapest plan for the fragment that begins at (row, column).
    void find(int row, int column, const BlockModels& models, const BlockCosts& costs,
              BlockPlan& plan);
    // Writes the samples of the plan to the picture.
    void write(BlockPicture<Sample>& picture) const;

private:
    const BlockPicture<Sample>& picture_;
    const BlockTools tools_;
    ThreadTeam& team_;
    BlockSurvey<Sample> survey_;
    std::vector<std::unique_ptr<BlockBench<Sample>>> benches_;  // for split columns, for split rows
    BlockPlace fragment_{};
    std::vector<Sample> samples_;
};

}  // namespace mmp
