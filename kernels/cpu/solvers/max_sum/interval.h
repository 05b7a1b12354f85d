// The interval of the largest sum of a sequence of any type, without a copy of the values.
#pragma once

#include <stdint.h>

#include "cpu/solvers/max_sum/max_sum.h"

namespace mmp {

// Returns the first best interval of at least one value, in the order of (start, stop). The sum of
// the magnitudes is below 2^63. Source: E. Alves, E. Cáceres and S. Song, "BSP/CGM algorithms for
// maximum subsequence and maximum subarray", 2004, for the summaries of parts.
template <class Value>
Interval largest_interval(const Value* values, int64_t count);

// The same for floating-point numbers, each multiplied by `scale`, a power of two, and rounded to
// an integer, a half to the even one.
template <class Value>
Interval largest_interval(const Value* values, int64_t count, double scale);

// Returns the largest magnitude, or infinity if a number is NaN or infinite.
template <class Value>
double largest_magnitude(const Value* values, int64_t count);

}  // namespace mmp
