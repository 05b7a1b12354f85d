// Prediction of a block with weights that are fitted to the decoded samples around it.
// Source: section "Prediction" of docs/format/format.md.
#pragma once

#include "cpu/blocks/picture.h"

namespace mmp {

inline bool least_squares_allowed(const BlockPlace& block) {
    return block.row >= kFittedFrom && block.column >= kFittedFrom;
}

template <class Sample>
void predict_least_squares(const BlockPicture<Sample>& picture, const BlockPlace& block,
                           Sample* out);

}  // namespace mmp
