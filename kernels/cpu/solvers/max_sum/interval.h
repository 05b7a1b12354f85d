// Maximum-sum interval of a sequence of any number type, without copying the values.
#pragma once

#include <stdint.h>

#include "cpu/solvers/max_sum/max_sum.h"

// Applies a macro to each type of values.
#define MMP_EACH_VALUE(MACRO)                                                    \
    MACRO(int8_t) MACRO(uint8_t) MACRO(int16_t) MACRO(uint16_t) MACRO(int32_t)   \
    MACRO(uint32_t) MACRO(int64_t) MACRO(float) MACRO(double)

namespace mmp {

// Summary of a sequence, from which the summary of a concatenation follows.
struct Summary {
    int64_t total;
    Interval prefix;  // shortest non-empty prefix of the largest sum
    Interval suffix;  // longest non-empty suffix of the largest sum
    Interval best;
};

// Returns the best non-empty interval; ties go to the least (start, stop). The sum of the
// magnitudes must be below 2^63. Floating-point numbers are multiplied by `scale`, a power of two,
// and rounded to integers, half to even; integers are taken as they are. Source: E. Alves, E.
// Cáceres and S. Song, "BSP/CGM algorithms for maximum subsequence and maximum subarray", 2004, for
// the summaries of parts.
template <class Value>
Interval largest_interval(const Value* values, int64_t count, double scale);

// largest_interval() for values whose magnitudes are unchecked. Returns false, without an answer,
// if an upper bound of their sum, by 1024 values at a time, reaches 2^63.
bool largest_interval(const int64_t* values, int64_t count, Interval& found);

// Returns the best interval, and the prefix, suffix and total that a search in a longer sequence
// needs.
template <class Value>
Summary interval_summary(const Value* values, int64_t count, double scale);

// Returns the largest magnitude; infinity if a number is NaN or infinite.
template <class Value>
double largest_magnitude(const Value* values, int64_t count);

}  // namespace mmp
