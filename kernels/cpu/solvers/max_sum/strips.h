// Best sums of all strips of rows of a matrix, for several top rows and a panel of bottom rows at a
// time.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "cpu/solvers/max_sum/max_sum.h"

namespace mmp {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int kTops = 4;  // top rows that are searched with one panel

template <class T>
constexpr int kLanesOf = 64 / sizeof(T);

// Prefix sums over rows, so that a strip is the difference of two rows. A panel has one row per
// vector lane and is stored column by column, so that a search reads memory sequentially.
template <class T>
class RunningSums {
public:
    static constexpr int64_t kPanel = kLanesOf<T>;

    RunningSums(const int64_t* values, int64_t rows, int64_t columns)
        : RunningSums(rows, columns) {
        std::vector<T> sum(columns);
        for (int64_t row = 0; row < rows; ++row) {
            T* out = &sums_[row / kPanel * kPanel * columns + row % kPanel];
            for (int64_t column = 0; column < columns; ++column) {
                sum[column] = static_cast<T>(sum[column] + values[row * columns + column]);
                out[column * kPanel] = sum[column];
            }
        }
    }

    // Initialises all sums to 0.
    RunningSums(int64_t rows, int64_t columns)
        : rows_(rows), columns_(columns), sums_((rows / kPanel + 1) * kPanel * columns) {}

    void add(const RunningSums& other) {
        for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
    }

    // Sets the sums to more - less; both have the same size.
    void set_difference(const RunningSums& more, const RunningSums& less) {
        for (size_t i = 0; i < sums_.size(); ++i) sums_[i] = more.sums_[i] - less.sums_[i];
    }

    // Returns the address of the prefix sum of the rows before `row` in column 0. Adjacent columns
    // are kPanel apart. Row 0, which is never a bottom row, is stored after the last one.
    const T* down_to(int64_t row) const {
        const int64_t place = row > 0 ? row - 1 : rows_;
        return &sums_[place / kPanel * kPanel * columns_ + place % kPanel];
    }

    void strip(int64_t first, int64_t last, std::vector<int64_t>& out) const {
        const T *above = down_to(first), *below = down_to(last);
        for (int64_t column = 0; column < columns_; ++column)
            out[column] = int64_t{below[column * kPanel]} - above[column * kPanel];
    }

private:
    int64_t rows_, columns_;
    std::vector<T> sums_;
};

// Write the best sum of each strip from one of kTops top rows to a bottom row of a panel.
void best_of_strips(const int32_t* const* tops, const int32_t* bottoms, int64_t columns,
                    int32_t* out);
void best_of_strips(const int64_t* const* tops, const int64_t* bottoms, int64_t columns,
                    int64_t* out);

// Write the best sum of each strip from one top row to a bottom row of a panel, for intervals of
// limited length. `block` has space for one 64-byte vector per start of a window.
void best_of_limited(const int32_t* top, const int32_t* bottoms, int64_t columns, Lengths widths,
                     void* block, int32_t* out);
void best_of_limited(const int64_t* top, const int64_t* bottoms, int64_t columns, Lengths widths,
                     void* block, int64_t* out);

// Searches the strips from kTops top rows to the bottom rows of a panel.
template <class T>
class StripSearch {
public:
    StripSearch(const RunningSums<T>& sums, int64_t columns, Lengths widths)
        : sums_(sums), columns_(columns), widths_(widths) {
        limited_ = widths.least > 1 || widths.most < columns;
        if (limited_) block_.resize(std::min(widths.most, columns) - widths.least + 1);
    }

    // `bottom` is the first row of a panel.
    void best(const int64_t* tops, int64_t bottom, T* out) {
        const T* bottoms = sums_.down_to(bottom);
        const T* above[kTops];
        for (int i = 0; i < kTops; ++i) above[i] = sums_.down_to(tops[i]);
        if (!limited_) return best_of_strips(above, bottoms, columns_, out);
        for (int i = 0; i < kTops; ++i, out += kLanesOf<T>)
            best_of_limited(above[i], bottoms, columns_, widths_, block_.data(), out);
    }

private:
    struct alignas(64) Vector {
        char bytes[64];
    };
    const RunningSums<T>& sums_;
    int64_t columns_;
    Lengths widths_;
    bool limited_;
    std::vector<Vector> block_;
};

// Calls visit(first, last, best sum) for the strips from kTops top rows, beginning with
// `first_top`, to all lower rows, if the strip's height is within `heights`. Most strips with a sum
// below limit() are skipped.
template <class T, class Limit, class Visit>
void visit_strips(StripSearch<T>& search, int64_t rows, int64_t first_top, Lengths heights,
                  const Limit& limit, const Visit& visit) {
    constexpr int64_t kLanes = kLanesOf<T>;
    std::array<int64_t, kTops> tops;
    for (int i = 0; i < kTops; ++i) tops[i] = std::min(first_top + i, rows - 1);
    const int64_t end = std::min(rows, first_top + kTops - 1 + heights.most);
    T best[kTops][kLanes];
    // Panels begin at row 1.
    for (int64_t bottom = (first_top + heights.least - 1) / kLanes * kLanes + 1; bottom <= end;
         bottom += kLanes) {
        search.best(tops.data(), bottom, best[0]);
        T most = best[0][0];
        for (const auto& row : best)
            for (const T sum : row) most = std::max(most, sum);
        if (most < limit()) continue;
        for (int i = 0; i < kTops && first_top + i < rows; ++i)
            for (int64_t lane = 0; lane < kLanes; ++lane) {
                const int64_t first = first_top + i, last = bottom + lane;
                const int64_t height = last - first;
                if (last <= rows && height >= heights.least && height <= heights.most)
                    visit(first, last, int64_t{best[i][lane]});
            }
    }
}

// Whether all sums of values fit 32 bits.
bool fits_32_bits(const int64_t* values, int64_t count);

}  // namespace mmp
