// Rates of symbols, and the ideal code length of each syntax element.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <array>
#include <numeric>
#include <vector>

#include "shared/entropy/rate.h"

namespace mmp {

enum Syntax {
    kFlagSyntax,
    kClassSyntax,
    kElementSyntax,
    kSplitSyntax,
    kModeSyntax,
    kKindSyntax,
    kLevelSyntax,
    kTreeSyntax
};
constexpr int kSyntaxElements = 8;

// Table of log2_rate() for every total frequency that a model can have, in 2^-12 bit.
class RateTable {
public:
    static const RateTable& get();
    int32_t operator[](uint32_t total) const { return rate_[total]; }

private:
    RateTable();
    std::vector<int32_t> rate_;
};

// Ideal code length by syntax element, in 2^-12 bit.
struct Tally {
    const RateTable& rates = RateTable::get();
    std::array<int64_t, kSyntaxElements> rate{};

    void add(Syntax syntax, uint32_t frequency, uint32_t total) {
        rate[syntax] += rates[total] - rates[frequency];
    }
    int64_t sum() const { return std::accumulate(rate.begin(), rate.end(), int64_t{0}); }
};

constexpr int kCellSide = 16;

inline int cells_along(int length) { return (length + kCellSide - 1) / kCellSide; }

// Ideal code length of each cell of 16x16 samples of a plane, in 2^-12 bit.
class CellRates {
public:
    CellRates(int height, int width)
        : height_(height), width_(width), rates_(size_t(rows()) * columns()) {}

    int rows() const { return cells_along(height_); }
    int columns() const { return cells_along(width_); }
    const std::vector<int64_t>& rates() const { return rates_; }

    // Rate spent before the first cell (headers) is charged to no cell.
    void start_at(int64_t sum) { sum_ = sum; }
    void add(const CellRates& others);
    // Charges the growth of `sum` since the previous call to the cells that a rectangle overlaps,
    // in proportion to the samples of the plane that they share. A rectangle outside the plane is
    // charged to the nearest cell.
    void grow_to(int64_t sum, int row, int column, int height, int width);

private:
    int height_, width_;
    int64_t sum_ = 0;
    std::vector<int64_t> rates_;
};

}  // namespace mmp
