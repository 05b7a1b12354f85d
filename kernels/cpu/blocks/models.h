// The frequencies of the modes of a block, and the gradients around it that weigh the angles.
// Source: section "Modes" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <array>

#include "cpu/blocks/picture.h"
#include "shared/blocks/models.h"
#include "shared/tools.h"

namespace mmp {

// The weights of the angles, from the gradients of the decoded samples around a block.
using AngleWeights = std::array<uint8_t, kAngles>;

// `above` and `left` are the numbers of decoded references.
template <class Sample>
AngleWeights angle_weights(const BlockPicture<Sample>& picture, const BlockPlace& block, int above,
                           int left);

// Writes the weight of each mode, which is 0 for the likely modes, and returns their sum. Bit m of
// `allowed`: the format allows mode m. `angles` is null without derived modes.
uint32_t weigh_modes(const BlockModels& models, int size, LikelyModes likely, uint64_t allowed,
                     const AngleWeights* angles, uint32_t* weights);

// Sets the models to their states at the start of a picture.
void start_models(const BlockTools& tools, bool small, BlockModels& models);

}  // namespace mmp
