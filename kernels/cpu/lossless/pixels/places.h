// The earlier place that looks most like a pixel. Source: section "Repeating pixels", "Place", of
// docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <vector>

#include "cpu/lossless/pixels/mixing.h"
#include "cpu/lossless/pixels/colours.h"

namespace mmp::pixels {

struct Spot {
    int32_t row = -1, column = -1;  // row -1: none

    bool operator==(const Spot&) const = default;
};

struct Place {
    static constexpr int kClasses = 8, kNone = 7;
    Spot at;
    int distance = 99;

    MMP_INLINE int near_class() const {
        return at.row < 0       ? kNone
               : distance <= 1  ? distance
               : distance <= 3  ? 2
               : distance <= 6  ? 3
               : distance <= 11 ? 4
               : distance <= 18 ? 5
                                : 6;
    }
};

class Places {
public:
    explicit Places(PixelRows& rows)
        : rows_(rows), of_column_(rows.width()), last_(size_t{1} << kBits) {}

    void begin_row() { left_ = {}; }
    // Pixels from a column on have no place.
    MMP_INLINE void skip(int column, int count) {
        std::fill_n(&of_column_[column], count, Spot{});
        left_ = {};
    }

    MMP_INLINE Place find(int row, int column, uint32_t hash) {
        Spot& last = last_[hash >> (32 - kBits)];
        Spot tried[3] = {left_, of_column_[column], last};
        ++tried[0].column;
        tried[1].row += tried[1].row >= 0;
        Place best;
        for (const Spot& at : tried) {
            if (at.row < 0 || at.column >= rows_.width() || at == best.at) continue;
            const int distance = distance_of(row, column, at);
            if (distance < best.distance) best = {at, distance};
            if (distance == 0) break;
        }
        left_ = of_column_[column] = best.at;
        last = {row, column};
        return best;
    }

    MMP_INLINE Colour colour(const Place& place) const {
        return *rows_.at(place.at.row, place.at.column);
    }

private:
    static constexpr int kBits = 16;

    // Returns how many of 40 pixels before the one at `row` and `column` and before `at` differ.
    MMP_INLINE int distance_of(int row, int column, const Spot& at) const {
        const Colour* here = rows_.at(row, column);
        const Colour* there = rows_.at(at.row, at.column);
        const int64_t stride = rows_.stride();
        int distance = 0;
        for (int left = 1; left <= 8; ++left) distance += here[-left] != there[-left];
        for (int up = 1; up <= 4; ++up) {
            const Colour *one = here - up * stride - 4, *other = there - up * stride - 4;
            for (int i = 0; i < 8; ++i) distance += one[i] != other[i];
        }
        return distance;
    }

    PixelRows& rows_;
    std::vector<Spot> of_column_, last_;
    Spot left_;
};

}  // namespace mmp::pixels
