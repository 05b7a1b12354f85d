// Frequencies of the modes of a block, and the weights that gradients around it give to the angles
// (derived modes). Source: section "Modes" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <array>

#include "cpu/blocks/picture.h"
#include "shared/blocks/models.h"
#include "shared/tools.h"

namespace mmp {

// Weight of each angle, derived from the gradients of the decoded samples around a block.
using AngleWeights = std::array<uint8_t, kAngles>;

// `above` and `left` are the numbers of decoded references.
template <class Sample>
AngleWeights angle_weights(const BlockPicture<Sample>& picture, const BlockPlace& block, int above,
                           int left);

// Writes the weight of each mode, 0 for likely modes, and returns the sum of the weights. Bit m of
// `allowed` is set if the format allows mode m. `angles` is null without derived modes.
uint32_t weigh_modes(const BlockModels& models, int size, LikelyModes likely, uint64_t allowed,
                     const AngleWeights* angles, uint32_t* weights);

// Sets the models to their initial states for a picture.
void start_models(const BlockTools& tools, bool small, BlockModels& models);

}  // namespace mmp
