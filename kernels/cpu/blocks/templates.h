// Template matching: predicts a block by the average of places with similar surroundings.
// Source: section "Templates" of docs/format/format.md.
#pragma once

#include "cpu/blocks/picture.h"

namespace mmp {

// Says whether a sample is decoded; if so, all samples not below and not right of it are too. Refers
// to a picture or to another function of a row and a column, which outlives it.
class Decoded {
public:
    template <class Sample>
    explicit Decoded(const BlockPicture<Sample>& picture)
        : of_(&picture), ask_([](const void* of, int row, int column) {
              return static_cast<const BlockPicture<Sample>*>(of)->known(row, column);
          }) {}
    template <class Function>
    explicit Decoded(const Function& function)
        : of_(&function), ask_([](const void* of, int row, int column) {
              return (*static_cast<const Function*>(of))(row, column);
          }) {}
    bool operator()(int row, int column) const { return ask_(of_, row, column); }

private:
    const void* of_;
    bool (*ask_)(const void* of, int row, int column);
};

// Whether a block has a place.
bool templates_allowed(const BlockPlace& block, const Decoded& decoded);

// Predicts a block that has a place by the average of at most `most` best places.
template <class Sample>
void predict_templates(const BlockPicture<Sample>& picture, const BlockPlace& block, int most,
                       const Decoded& decoded, Sample* out);

}  // namespace mmp
