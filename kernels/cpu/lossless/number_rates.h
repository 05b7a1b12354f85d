// An estimate of what the numbers of a palette cost, for the search of encoders. It takes a
// seventeenth of the time of lossless coding. mmpcodec/reference/lossless/number_rates.py describes it.
#pragma once

#include <stdint.h>

#include <vector>

namespace mmp {

// Returns the estimated rates of the cells of a plane, in 2^-12 bit. Its numbers are below `count`.
std::vector<int64_t> number_rates(const uint16_t* numbers, int height, int width, int count);

}  // namespace mmp
