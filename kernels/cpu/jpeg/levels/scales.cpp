#include "cpu/jpeg/levels/scales.h"

namespace mmp::jpeg {

const Scales kScales;
const RestLogarithms kRestLogarithms;

Scales::Scales() {
    for (int size = 0; size < kScaled; ++size) {
        const int doublings = int(std::bit_width(unsigned(size + 1))) - 1;
        logarithm[size] = int16_t(64 * doublings + (64 * (size + 1) >> doublings) - 64);
        const int digits = int(std::bit_width(unsigned(size)));
        const int step = digits < 3 ? size : 4 * digits - 8 + (size >> (digits - 3) & 3);
        coarse[size] = uint8_t(std::min(step, 31));
    }
}

RestLogarithms::RestLogarithms() : of{} {
    for (int end = 0; end < kBlockLevels; ++end)
        for (int z = 0; z <= end; ++z) of[end][kZigzag[z]] = kScales.logarithm[end - z];
}

}  // namespace mmp::jpeg
