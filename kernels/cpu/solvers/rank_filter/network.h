// Rank filters by comparison networks, which mmpcodec/solvers/rank_filter/network.py generates.
#pragma once

#include <stdint.h>

#include "cpu/solvers/rank_filter/bordered_picture.h"

namespace mmp {

// A step processes each value x of lines: a is line[a][x + a_shift], b is line[b][x + b_shift], c
// is line[c][x].
struct NetworkStep {
    enum Kind : int32_t {
        kCompare,          // low = min(a, b), high = max(a, b)
        kLeast,            // low = min(a, b)
        kGreatest,         // low = max(a, b)
        kLeastOfGreatest,  // low = min(c, max(a, b))
        kGreatestOfLeast,  // low = max(c, min(a, b))
    };
    int32_t kind, a, a_shift, b, b_shift, c, low, high;
    int32_t extra;  // values computed beyond the strip
};

// The first lines, one per row of the window, hold the samples under a row of windows.
struct Network {
    const NetworkStep* steps;
    int64_t count;
    int lines;
    int answer, answer_shift;  // line with the result, and the offset of its first value
};

// Replaces each pixel by the result of the network in its window. Ignores `picture.valid`. Returns
// whether any sample is NaN; then the result is undefined.
template <class T>
bool network_filter(const BorderedPicture<T>& picture, const Network& network, T* out,
                    ThreadTeam& team);

}  // namespace mmp
