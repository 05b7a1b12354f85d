// The effort of the encoder's search for blocks.
#pragma once

namespace mmp {

constexpr int kNotHopeless = 1000;

struct BlockEffort {
    int surveyed;  // modes of a block that the survey proposes
    int tried;     // modes of a block that are tried in full
    int rough;     // modes of a block whose cost the survey estimates
    int slack;     // percent that a tried flag's estimate may exceed the least
    // Bits that the survey adds to the cost of a split, because the least of many estimates is too
    // low.
    int split_bits;
    // The survey looks at blocks whose sides differ by at most this factor, as log2.
    int elongation;
    // Whether the survey looks at every angle of every block. Otherwise it looks at some angles of
    // square blocks and then at those near the best one; other blocks take the modes of the blocks
    // that contain them or that they contain.
    bool all_angles;
    // Least squares and templates are tried where the least difference of the other modes, times
    // this, is at least one quantisation step (in 1/16) per sample.
    int fitting, matching;
    bool choosing;
    int hopeless;
};

// From 1, the fastest, to 9, the most thorough.
BlockEffort block_effort(int effort);

}  // namespace mmp
