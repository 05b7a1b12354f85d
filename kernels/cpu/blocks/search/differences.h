// Hadamard differences (SATD) between a block and its predictions by many modes.
#pragma once

#include <stdint.h>

#include "cpu/blocks/angles.h"
#include "cpu/blocks/prediction.h"

namespace mmp {

// A block whose modes are compared: its source samples and its references.
template <class Sample>
class ModeDifferences {
public:
    // `references`, `smooth` and `source` must outlive the object. `smooth` is as in
    // predict_block().
    ModeDifferences(const Sample* source, const References<Sample>& references,
                    const References<Sample>& smooth, int a, int b, Depth<Sample> depth);

    // Writes hadamard_difference() of the source and its prediction by each angle whose bit is set.
    void of_angles(uint64_t angles, int32_t* differences);

private:
    void prepare(bool vertical);

    const Sample* source_;
    const References<Sample>&references_, &smooth_;
    const int a_, b_;
    const Depth<Sample> depth_;
    bool ready_[2] = {};  // of the horizontal and the vertical family
    AngleLine<Sample> lines_[2];
    Sample turned_[kMaxBlockArea];  // transposed source, for the horizontal family
};

}  // namespace mmp
