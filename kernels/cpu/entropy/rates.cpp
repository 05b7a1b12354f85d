#include "cpu/entropy/rates.h"

#include <algorithm>

namespace mmp {

RateTable::RateTable() : rate_(kLog2Entries) {
    // log2 of an even number is log2 of its half plus one bit.
    for (uint32_t i = 1; i < kLog2Entries; ++i)
        rate_[i] = i % 2 ? log2_rate(i) : rate_[i / 2] + (1 << kRateFractionBits);
}

const RateTable& RateTable::get() {
    // Never freed: daemon threads may still read it while the process exits.
    static const RateTable& table = *new RateTable;
    return table;
}

void CellRates::add(const CellRates& others) {
    for (size_t i = 0; i < rates_.size(); ++i) rates_[i] += others.rates_[i];
}

void CellRates::grow_to(int64_t sum, int row, int column, int height, int width) {
    const int64_t rate = sum - sum_;
    sum_ = sum;
    row = std::min(row, height_ - 1), column = std::min(column, width_ - 1);
    height = std::min(height, height_ - row), width = std::min(width, width_ - column);
    const int64_t area = int64_t{height} * width;
    int64_t before = 0;
    for (int i = row; i < row + height;) {
        const int rows = std::min(row + height, i / kCellSide * kCellSide + kCellSide) - i;
        for (int j = column; j < column + width;) {
            const int columns = std::min(column + width, j / kCellSide * kCellSide + kCellSide) - j;
            const int64_t after = before + int64_t{rows} * columns;
            rates_[size_t(i / kCellSide) * this->columns() + j / kCellSide] +=
                rate * after / area - rate * before / area;
            before = after, j += columns;
        }
        i += rows;
    }
}

}  // namespace mmp
