#include "cpu/jpeg/levels/scales.h"

#include <math.h>

namespace mmp::jpeg {

const Scales kScales;

Scales::Scales() {
    // Every log() gives this table, however it rounds: no value is within 4 / 10000 of the middle
    // between two integers.
    for (int size = 0; size < kScaled; ++size) {
        logarithm[size] = int16_t(lround(64 * log(1.0 + size)));
        const int digits = int(std::bit_width(unsigned(size)));
        const int step = digits < 3 ? size : 4 * digits - 8 + (size >> (digits - 3) & 3);
        coarse[size] = uint8_t(std::min(step, 31));
    }
}

}  // namespace mmp::jpeg
