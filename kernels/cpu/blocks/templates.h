// Template matching: predicts a block by the average of the places whose templates are most
// similar. Source: section "Templates" of docs/format/format.md.
#pragma once

#include <concepts>

#include "cpu/blocks/picture.h"

namespace mmp {

// Whether a sample is decoded; if it is, so are all samples above and left of it. Refers to
// units or to a function of row and column, which must outlive it.
class Decoded {
public:
    explicit Decoded(const BlockUnits& units)
        : of_(&units), ask_([](const void* of, int row, int column) {
              return static_cast<const BlockUnits*>(of)->known(row, column);
          }) {}
    template <std::invocable<int, int> Function>
    explicit Decoded(const Function& function)
        : of_(&function), ask_([](const void* of, int row, int column) {
              return (*static_cast<const Function*>(of))(row, column);
          }) {}
    bool operator()(int row, int column) const { return ask_(of_, row, column); }

private:
    const void* of_;
    bool (*ask_)(const void* of, int row, int column);
};

// Whether template matching has at least one place to compare with the block.
bool templates_allowed(const BlockPlace& block, const Decoded& decoded);

// Predicts a block by the average of its best places, at most `most`. The block must have a place.
template <class Sample>
void predict_templates(const BlockPicture<Sample>& picture, const BlockPlace& block, int most,
                       const Decoded& decoded, Sample* out);

}  // namespace mmp
