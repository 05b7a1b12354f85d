// Initial states of the models, and frequencies of the modes of a block. Source: sections "Initial
// states" and "Modes" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include "shared/blocks/models.h"
#include "shared/tools.h"

namespace mmp {

// Writes the weight of each mode, 0 for likely modes, and returns the sum of the weights. Bit m of
// `allowed` is set if the format allows mode m.
uint32_t weigh_modes(const BlockModels& models, int size, LikelyModes likely, uint64_t allowed,
                     uint32_t* weights);

// Sets the models to their initial states for a picture.
void start_models(const BlockTools& tools, bool small, BlockModels& models);

}  // namespace mmp
