// The coarsely quantised source, which stands for the decoded neighbours in the rough search.
#pragma once

#include <stdint.h>

#include "cpu/blocks/picture.h"
#include "cpu/blocks/steps.h"
#include "cpu/runtime/thread_team.h"
#include "shared/tools.h"

namespace mmp {

// Returns a picture of the size of `like`, one block per unit, whose samples are the source after
// coarse quantisation of its cosine transform. With the exact source, the rough search would
// underestimate the cost of small blocks.
template <class Sample>
BlockPicture<Sample> coarsely_quantised(const Sample* source, const BlockPicture<Sample>& like,
                                        const BlockTools& tools, const StepChanges& changes,
                                        ThreadTeam& team);

}  // namespace mmp
