// The coarsely quantised source, from which the survey predicts blocks.
#pragma once

#include <stdint.h>

#include "cpu/blocks/picture.h"
#include "cpu/blocks/steps.h"
#include "cpu/runtime/thread_team.h"
#include "shared/tools.h"

namespace mmp {

// Returns a picture like another, of one block each unit, whose samples are those of the source
// after its cosine transform was quantised coarsely. From the exact source, small blocks would seem
// too cheap.
template <class Sample>
BlockPicture<Sample> coarsely_quantised(const Sample* source, const BlockPicture<Sample>& like,
                                        const BlockTools& tools, const StepChanges& changes,
                                        ThreadTeam& team);

}  // namespace mmp
