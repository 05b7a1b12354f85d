// The encoder's search for the blocks of a fragment.
#pragma once

#include <stdint.h>

#include <memory>
#include <vector>

#include "block_survey.h"

namespace mmp {

class BlockBench;

class BlockSearch {
public:
    // `source` has the size of the picture; `trees` is null without dictionary.
    BlockSearch(const uint8_t* source, const BlockPicture& picture, const BlockTools& tools,
                const BlockEffort& effort, BlockTreeSearch* trees, ThreadTeam& team);
    ~BlockSearch();

    // Finds the plan of least cost for the fragment that begins here.
    void find(int row, int column, const BlockModels& models, const BlockCosts& costs,
              BlockPlan& plan);
    // Writes its samples.
    void write(BlockPicture& picture) const;

private:
    const BlockPicture& picture_;
    const BlockTools tools_;
    ThreadTeam& team_;
    BlockSurvey survey_;
    std::vector<std::unique_ptr<BlockBench>> benches_;  // where columns and rows are tried
    BlockPlace fragment_{};
    std::vector<uint8_t> samples_;
};

}  // namespace mmp
