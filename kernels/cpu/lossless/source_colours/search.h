// Finds the luma and chroma that RGB samples were made from. Encoder only.
#pragma once

#include <stdint.h>

#include <optional>

#include "cpu/lossless/source_colours/corrections.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

// `samples` are planes of green, red and blue, of 8 bits. None if no luma and chroma give them.
std::optional<SourcePlanes> find_source_planes(const uint16_t* samples, int height, int width,
                                               ThreadTeam& team);

}  // namespace mmp
