#include "cpu/entropy/rates.h"

namespace mmp {

RateTable::RateTable() : rate_(kLog2Entries) {
    // The logarithm of an even number is that of its half, plus one bit.
    for (uint32_t i = 1; i < kLog2Entries; ++i)
        rate_[i] = i % 2 ? log2_rate(i) : rate_[i / 2] + (1 << kRateFractionBits);
}

const RateTable& RateTable::get() {
    static const RateTable table;
    return table;
}

}  // namespace mmp
