// Rank filters by networks of comparisons, which mmpcodec/solvers/rank_filter/network.py makes.
#pragma once

#include <stdint.h>

#include "cpu/solvers/rank_filter/bordered_picture.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

// A step works on each value x of lines: a is line[a][x + a_shift], b is line[b][x + b_shift], c is
// line[c][x].
struct NetworkStep {
    enum Kind : int32_t {
        kCompare,          // low = min(a, b), high = max(a, b)
        kLeast,            // low = min(a, b)
        kGreatest,         // low = max(a, b)
        kLeastOfGreatest,  // low = min(c, max(a, b))
        kGreatestOfLeast,  // low = max(c, min(a, b))
    };
    int32_t kind, a, a_shift, b, b_shift, c, low, high;
    int32_t extra;  // number of values beyond those of the strip
};

// The first lines, as many as the window has rows, hold the samples under the windows of a row.
struct Network {
    const NetworkStep* steps;
    int64_t count;
    int lines;
    int answer, answer_shift;  // the line of the answer, and where its first value is
};

// Replaces each pixel by what the network finds in its window. `picture.valid` is ignored. Returns
// whether samples are NaN; then the result is undefined.
template <class T>
bool network_filter(const BorderedPicture<T>& picture, const Network& network, T* out,
                    ThreadTeam& team);

}  // namespace mmp
