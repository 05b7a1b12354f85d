// The effort of the encoder's search for blocks.
#pragma once

namespace mmp {

struct BlockEffort {
    // From 1, the fastest, to 9, the most thorough.
    explicit BlockEffort(int effort) {
        static constexpr int kSettings[9][5] = {
            {4, 2, 1, 4, 16}, {4, 2, 2, 8, 32}, {5, 2, 2, 12, 64},
            {6, 3, 2, 12, 64}, {6, 3, 3, 16, 64}, {8, 4, 3, 20, 64},
            {8, 4, 4, 25, 64}, {10, 5, 4, 40, 64}, {12, 8, 4, 1000, 64},
        };
        const int* setting = kSettings[effort - 1];
        surveyed = setting[0], tried = setting[1], rough = setting[2], slack = setting[3];
        matching = setting[4];
    }

    int surveyed;  // modes of a block that the survey proposes
    int tried;     // modes of a block that are tried in full
    int rough;     // modes of a block whose cost the survey estimates
    int slack;     // percent that a tried flag's estimate may exceed the least
    // Templates are tried where the least difference of the other modes, times this, is at least
    // one quantisation step (in 1/16) per sample.
    int matching;
};

}  // namespace mmp
