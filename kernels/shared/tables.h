// The trained tables, which scripts/embed.py compiles in from the files in kernels/shared/tables.
#pragma once

#include <stdint.h>

namespace mmp {

extern const uint8_t kFixedFilters[2520];
extern const uint8_t kInitialStates[22362], kSmallInitialStates[22362];
extern const uint8_t kTrainedTransforms[12368];  // in two's complement
extern const uint8_t kJpegWeights[17280], kJpegStates[7744];
extern const uint8_t kUsualBytes[3965];

}  // namespace mmp
