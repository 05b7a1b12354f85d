// The frequencies of the modes of a block.
// Source: section "Modes" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include "shared/blocks/models.h"
#include "shared/tools.h"

namespace mmp {

// Writes the weight of each mode, which is 0 for the likely modes, and returns their sum. Bit m of
// `allowed`: the format allows mode m.
uint32_t weigh_modes(const BlockModels& models, int size, LikelyModes likely, uint64_t allowed,
                     uint32_t* weights);

// Sets the models to their states at the start of a picture.
void start_models(const BlockTools& tools, BlockModels& models);

}  // namespace mmp
