// How much work the encoder's search for blocks does.
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
    int tried;     // of these, modes that are tried in full
    int rough;     // modes whose cost the survey itself estimates
    int slack;     // per cent by which a partition may look worse than the best and is still tried
    // Templates are tried where the least difference of the other modes, times this, is a
    // quantisation step a sample or more.
    int matching;
};

}  // namespace mmp
