// Template matching: predicts a block by the average of places with similar surroundings.
// Source: section "Templates" of docs/format/format.md.
#pragma once

#include <functional>

#include "cpu/blocks/picture.h"

namespace mmp {

// Returns whether a sample is decoded; if so, all samples not below and not right of it are too.
using Decoded = std::function<bool(int row, int column)>;

template <class Sample>
Decoded decoded_in(const BlockPicture<Sample>& picture) {
    return [&picture](int row, int column) { return picture.known(row, column); };
}

// Whether a block has a place.
bool templates_allowed(const BlockPlace& block, const Decoded& decoded);

// Predicts a block that has a place by the average of at most `most` best places.
template <class Sample>
void predict_templates(const BlockPicture<Sample>& picture, const BlockPlace& block, int most,
                       const Decoded& decoded, Sample* out);

}  // namespace mmp
