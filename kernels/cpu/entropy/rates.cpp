#include "cpu/entropy/rates.h"

namespace mmp {

RateTable::RateTable() : rate_(kLog2Entries) {
    for (uint32_t i = 1; i < kLog2Entries; ++i) rate_[i] = log2_rate(i);
}

const RateTable& RateTable::get() {
    static const RateTable table;
    return table;
}

}  // namespace mmp
