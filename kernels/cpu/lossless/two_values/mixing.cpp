#include "cpu/lossless/two_values/mixing.h"

namespace mmp {

PixelTables::PixelTables() {
    for (int n = 0; n < 256; ++n) slow_rates[n] = uint16_t(131072 / (2 * n + 9));
    for (int m = 0; m < kRates; ++m) weight_rates[m] = uint16_t(16 + 8000 / (100 + m));
    for (int state = 0; state < kPixelStates; ++state) {
        const int zeros = state & 15, ones = state >> 4;
        history[state] = uint16_t(65536 * (2 * ones + 1) / (2 * (zeros + ones) + 2));
        const auto more = [](int count) { return std::min(count + 1, 15); };
        const auto fewer = [](int count) { return count > 2 ? (count + 2) >> 1 : count; };
        next[0][state] = uint8_t(more(zeros) | fewer(ones) << 4);
        next[1][state] = uint8_t(fewer(zeros) | more(ones) << 4);
    }
}
const PixelTables kPixel;

}  // namespace mmp
