// The trained transforms of the low frequencies of a block.
// Source: section "Trained transforms" of docs/format/format.md.
#pragma once

#include <stdint.h>

namespace mmp {

// Changes the low frequencies of the cosine transform of a block, to those of its trained transform
// and back.
void trained_forward(int16_t* coefficients, int a, int b, int mode);
void trained_inverse(int16_t* coefficients, int a, int b, int mode);

}  // namespace mmp
