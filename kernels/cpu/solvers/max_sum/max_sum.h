// Maximum-sum intervals and rectangles of integers. mmpcodec/solvers/max_sum defines the answers,
// including ties.
//
// The sum of the magnitudes of all values must be below 2^63; callers check this. Searches with a
// thread team throw OutOfTime soon after its deadline.
#pragma once

#include <stdint.h>

#include <array>

#include "cpu/runtime/thread_team.h"

namespace mmp {

// Least and largest allowed number of values of an interval.
struct Lengths {
    int64_t least, most;
};

// The interval of values start to stop - 1.
struct Interval {
    int64_t sum, start, stop;
};

struct IntervalCensus {
    int64_t sum;
    int64_t intervals;  // number of intervals with this sum
    int64_t disjoint;   // most disjoint intervals with this sum
    Interval longest, shortest;
};

// Rows first to last - 1 and columns start to stop - 1.
struct Strip {
    int64_t sum, first, last, start, stop;
};

// Values starts[i] to stops[i] - 1 along axis i.
struct Box {
    int64_t sum;
    std::array<int64_t, 3> starts, stops;
};

struct BoxCensus {
    int64_t sum;
    int64_t boxes;  // number of boxes with this sum
    Box largest, smallest;
};

Interval max_interval(const int64_t* values, int64_t count, Lengths lengths);
IntervalCensus interval_census(const int64_t* values, int64_t count);

// Sets out[i] to the largest sum of an interval that contains value i.
void sums_through(const int64_t* values, int64_t count, int64_t* out);

// Returns the best strip of rows with the best interval of columns in it. `transposed` means that
// rows are columns of the caller's matrix; it changes the tie order.
Strip max_rectangle(const int64_t* values, int64_t rows, int64_t columns, Lengths heights,
                    Lengths widths, bool transposed, ThreadTeam& team);

// Returns the best box of a volume of `sizes` values, with sides within `limits`. axes[i] is the
// axis of the caller's volume that corresponds to axis i; it determines the tie order.
Box max_box(const int64_t* values, const std::array<int64_t, 3>& sizes,
            const std::array<int, 3>& axes, const std::array<Lengths, 3>& limits, ThreadTeam& team);

BoxCensus box_census(const int64_t* values, const std::array<int64_t, 3>& sizes,
                     const std::array<int, 3>& axes, ThreadTeam& team);

// Writes the largest sum of each range of rows first to last, in the order (0, 0), (0, 1), ..., (1,
// 1), ...
void strip_maxima(const int64_t* values, int64_t rows, int64_t columns, int64_t* out,
                  ThreadTeam& team);

}  // namespace mmp
