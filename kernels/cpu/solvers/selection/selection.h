// Order statistics of arrays. mmpcodec/solvers/selection defines the answers.
//
// Values are compared by keys: unsigned integers that sort like the values. -0.0 has a smaller key
// than 0.0, and every NaN has the largest key.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/runtime/thread_team.h"

namespace mmp {

enum class Kind { kUnsigned, kSigned, kFloat };

// An array of numbers of one type.
struct Values {
    const void* data;
    int64_t count;
    Kind kind;
    int bytes;  // size of a value: 1, 2, 4 or 8 bytes
};

// Lines of an array of outer x length x inner numbers. Line o * inner + i holds the numbers at
// (o, 0, i) to (o, length - 1, i).
struct Lines {
    const void* data;
    int64_t outer, length, inner;
    Kind kind;
    int bytes;
};

// Ranks of each line, from 0; one row of `each` ranks applies to all lines.
struct Ranks {
    const int64_t* data;
    int64_t rows, each;
};

// Sets keys[i] to the key of rank ranks[i], from 0. Returns the number of NaN.
int64_t select(const Values& values, const std::vector<int64_t>& ranks, uint64_t* keys,
               ThreadTeam& team);

// Selects from each line: `each` keys of the size of a value and, for floating-point values, one
// number of NaN per line.
void select_lines(const Lines& lines, const Ranks& ranks, void* keys, int64_t* nans,
                  ThreadTeam& team);

// Histogram of one digit, (key >> shift) % 2^bits, over the keys that begin with `prefix`: key >>
// shift >> bits equals prefix >> shift >> bits.
void digit_counts(const Values& values, uint64_t prefix, int shift, int bits, int64_t* counts,
                  ThreadTeam& team);

}  // namespace mmp
