// Order statistics of arrays. mmpcodec/solvers/selection holds the definitions.
//
// Values are compared by keys: unsigned integers in the values' order. Floating-point numbers order
// as their bits do, -0 below 0, and every NaN has the largest key.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/runtime/thread_team.h"

namespace mmp {

enum class Kind { kUnsigned, kSigned, kFloat };

// Numbers of one type in a row.
struct Values {
    const void* data;
    int64_t count;
    Kind kind;
    int bytes;  // of a value: 1, 2, 4 or 8
};

// keys[i]: that of the value with ranks[i] values before it in order. `ranks` ascend. Returns the
// number of NaN.
int64_t select(const Values& values, const std::vector<int64_t>& ranks, uint64_t* keys,
               ThreadTeam& team);

// The same for each of the `rows` equal parts of the values, with `each` ranks and keys of its own.
void select_rows(const Values& values, int64_t rows, const int64_t* ranks, int64_t each,
                 uint64_t* keys, int64_t* nans, ThreadTeam& team);

// How many keys have each of the digits (key >> shift) % 2^bits, of those that begin with `prefix`:
// key >> shift >> bits is prefix >> shift >> bits.
void digit_counts(const Values& values, uint64_t prefix, int shift, int bits, int64_t* counts,
                  ThreadTeam& team);

}  // namespace mmp
