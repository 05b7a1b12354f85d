// The interval of the largest sum of a sequence of any type, without a copy of the values.
#pragma once

#include <stdint.h>

#include "cpu/solvers/max_sum/max_sum.h"

namespace mmp {

// The five values of a sequence that may be a part of a longer one.
struct Summary {
    int64_t total;
    Interval prefix;  // the shortest beginning of the largest sum, of at least one value
    Interval suffix;  // the longest end of the largest sum, of at least one value
    Interval best;
};

// Returns the first best interval of at least one value, in the order of (start, stop). The sum of
// the magnitudes is below 2^63. Floating-point numbers are multiplied by `scale`, a power of two,
// and rounded to an integer, a half to the even one; integers are taken as they are.
// Source: E. Alves, E. Cáceres and S. Song, "BSP/CGM algorithms for maximum subsequence and maximum
// subarray", 2004, for the summaries of parts.
template <class Value>
Interval largest_interval(const Value* values, int64_t count, double scale);

// The same for values whose magnitudes were not checked. Returns false, without an answer, if they
// may add up to 2^63, by a bound of 1024 values at a time.
bool largest_interval(const int64_t* values, int64_t count, Interval& found);

// Returns the best interval with the sums that a search in a longer sequence needs of this part of it.
template <class Value>
Summary interval_summary(const Value* values, int64_t count, double scale);

// Returns the largest magnitude, or infinity if a number is NaN or infinite.
template <class Value>
double largest_magnitude(const Value* values, int64_t count);

}  // namespace mmp
