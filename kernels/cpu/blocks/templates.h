// Prediction by the places whose surroundings look most like those of the block.
// Source: section "Prediction" of docs/format/format.md.
#pragma once

#include <functional>

#include "cpu/blocks/picture.h"

namespace mmp {

// Whether a sample counts as decoded; then so do all that are neither below nor right of it.
using Decoded = std::function<bool(int row, int column)>;

template <class Sample>
Decoded decoded_in(const BlockPicture<Sample>& picture) {
    return [&picture](int row, int column) { return picture.known(row, column); };
}

// Whether a block has a place to be predicted from.
bool templates_allowed(const BlockPlace& block, const Decoded& decoded);

// The average of the `most` best places or fewer; of a block that has one.
template <class Sample>
void predict_templates(const BlockPicture<Sample>& picture, const BlockPlace& block, int most,
                       const Decoded& decoded, Sample* out);

}  // namespace mmp
