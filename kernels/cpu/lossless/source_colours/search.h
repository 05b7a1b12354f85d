// Finds the luma and chroma that RGB samples were made from. Encoder only.
#pragma once

#include <stdint.h>

#include <optional>

#include "cpu/lossless/source_colours/corrections.h"
#include "cpu/runtime/progress.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

// `samples` are planes of green, red and blue, of 8 bits. None if no luma and chroma give them, or
// if the search takes too many steps. `progress` gets the passes that are done, at first 0, then
// about every 30 ms.
std::optional<SourcePlanes> find_source_planes(const uint16_t* samples, int height, int width,
                                               ThreadTeam& team, const Progress& progress);

}  // namespace mmp
