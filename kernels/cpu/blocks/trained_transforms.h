// Trained transforms: a second, non-separable transform of the low frequencies (as LFNST). Source:
// section "Trained transforms" of docs/format/format.md.
#pragma once

#include <stdint.h>

namespace mmp {

// trained_forward replaces the low frequencies of the cosine transform by those of the trained
// transform; trained_inverse does the reverse.
void trained_forward(int16_t* coefficients, int a, int b, int mode);
void trained_inverse(int16_t* coefficients, int a, int b, int mode);

}  // namespace mmp
