// Maximum-sum intervals and rectangles of integers. mmpcodec/solvers/max_sum defines the
// answers, ties included.
//
// The sum of the magnitudes of all values must be below 2^63; callers check that.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/runtime/thread_team.h"

namespace mmp {

// Lengths that an interval may have.
struct Lengths {
    int64_t least, most;
};

// Values start to stop - 1.
struct Interval {
    int64_t sum, start, stop;
};

struct IntervalCensus {
    int64_t sum;
    int64_t intervals;  // that have this sum
    int64_t disjoint;   // most of them that do not overlap
    Interval longest, shortest;
};

// Rows first to last - 1, and values start to stop - 1 of each.
struct Strip {
    int64_t sum, first, last, start, stop;
};

Interval max_interval(const int64_t* values, int64_t count, Lengths lengths);
IntervalCensus interval_census(const int64_t* values, int64_t count);

// out[i]: the largest sum of an interval that contains value i.
void sums_through(const int64_t* values, int64_t count, int64_t* out);

// All maximal intervals in the sense of Ruzzo and Tompa, from the left.
std::vector<Interval> maximal_intervals(const int64_t* values, int64_t count);

// The best strip of rows and interval within it. `transposed` says that rows here are the columns
// of the caller's matrix, which matters to what comes first.
Strip max_rectangle(const int64_t* values, int64_t rows, int64_t columns, Lengths heights,
                    Lengths widths, bool transposed, ThreadTeam& team);

// The largest sum in each range of rows: (0, 0), (0, 1), ..., (1, 1), ...
void strip_maxima(const int64_t* values, int64_t rows, int64_t columns, int64_t* out,
                  ThreadTeam& team);

}  // namespace mmp
