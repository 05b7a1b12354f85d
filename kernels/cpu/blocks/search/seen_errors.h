// Errors as the eye sees them: those of high frequencies count less. Encoder only.
#pragma once

#include <stdint.h>

namespace mmp {

constexpr int kSeenSide = 16;  // height and width of the blocks whose frequencies are weighted

// By frequency, then sample; and the weights of the frequencies of a block, in 1/64.
using SeenBasis = int32_t[kSeenSide][kSeenSide];
using SeenWeights = int32_t[kSeenSide][kSeenSide];

// Writes the squared errors of the blocks in rows of blocks first to last - 1 to their places in
// `errors`, which has all blocks.
template <class Sample>
void seen_errors(const Sample* source, const Sample* samples, int64_t height, int64_t width,
                 const SeenBasis& basis, const SeenWeights& weights, int64_t first, int64_t last,
                 int64_t* errors);

}  // namespace mmp
