// Maximal intervals: for each start, how far the best interval reaches.
//
// Let p be the prefix sums. An interval from start to stop - 1 can be maximal only if p[start] is
// below and p[stop] above all prefix sums between them. So it ends before the first later prefix
// sum that is at most p[start], at the first maximum of p up to there. Two such intervals are
// nested or disjoint; those that no other one contains are the maximal intervals of W. Ruzzo and M.
// Tompa, "A linear time algorithm for finding all maximal scoring subsequences", ISMB 1999.
//
// The search climbs a tree of minima and maxima: a node of level h covers kChildren nodes of level
// h - 1; the nodes of level 0 are the prefix sums.
#include "shared/integers.h"

namespace mmp {

constexpr int kThreads = 256;
constexpr int kChildren = 16;
constexpr int kLevels = 12;  // enough for 2^48 sums

struct Tree {
    const int64_t* lows[kLevels];
    const int64_t* highs[kLevels];
    int64_t count[kLevels];  // nodes per level
    int64_t top;             // level with one node
};

// Returns the stop of the longest interval that begins at `start`, where the next value must be
// positive.
__device__ inline int64_t reach(const Tree& tree, int64_t start) {
    const int64_t low = tree.lows[0][start];
    int64_t most = low, level_of_most = 0, most_at = start;
    int64_t level = 0, node = start + 1;
    bool goes_down = false;
    while (node < tree.count[level]) {
        if (tree.lows[level][node] <= low) {
            if (level == 0) break;
            --level;
            node *= kChildren;
            goes_down = true;
            continue;
        }
        if (tree.highs[level][node] > most) {
            most = tree.highs[level][node];
            level_of_most = level;
            most_at = node;
        }
        ++node;
        while (!goes_down && level < tree.top && node % kChildren == 0) {
            ++level;
            node /= kChildren;
        }
    }
    while (level_of_most > 0) {
        --level_of_most;
        most_at *= kChildren;
        while (tree.highs[level_of_most][most_at] != most) ++most_at;
    }
    return most_at;
}

}  // namespace mmp

using namespace mmp;

// Computes the nodes of a level from the `count` nodes of the level below. Grid: one thread per
// node.
extern "C" __global__ void __launch_bounds__(kThreads)
    join_nodes(const int64_t* lows, const int64_t* highs, int64_t count, int64_t* joined_lows,
               int64_t* joined_highs) {
    const int64_t node = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const int64_t first = node * kChildren;
    if (first >= count) return;
    int64_t low = lows[first], high = highs[first];
    for (int64_t i = first + 1; i < first + kChildren && i < count; ++i) {
        low = lows[i] < low ? lows[i] : low;
        high = highs[i] > high ? highs[i] : high;
    }
    joined_lows[node] = low;
    joined_highs[node] = high;
}

// Sets stops[i] to the stop of the longest interval that begins at starts[i].
extern "C" __global__ void __launch_bounds__(kThreads)
    reach_of_starts(Tree tree, const int64_t* starts, int64_t count, int64_t* stops) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < count) stops[i] = reach(tree, starts[i]);
}
