// Order statistics of arrays. mmpcodec/solvers/selection defines the answers.
//
// Values are compared by keys: unsigned integers in the order of the values. -0.0 has a smaller key
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

// Sets keys[i] to the key of rank ranks[i], counted from 0. `ranks` ascend. Returns the number of
// NaN.
int64_t select(const Values& values, const std::vector<int64_t>& ranks, uint64_t* keys,
               ThreadTeam& team);

// Selects from each of `rows` rows of equal length; each row has `each` ranks and keys, and one
// number of NaN.
void select_rows(const Values& values, int64_t rows, const int64_t* ranks, int64_t each,
                 uint64_t* keys, int64_t* nans, ThreadTeam& team);

// Counts, for each digit (key >> shift) % 2^bits, the keys that begin with `prefix`: those for
// which key >> shift >> bits equals prefix >> shift >> bits.
void digit_counts(const Values& values, uint64_t prefix, int shift, int bits, int64_t* counts,
                  ThreadTeam& team);

}  // namespace mmp
