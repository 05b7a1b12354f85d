// Periods of the columns and rows at which an enlarged scan has edges. Source: section "Two values"
// of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <vector>

namespace mmp {

struct Periods {
    int columns = 1, rows = 1;  // 1 to kMost

    static constexpr int kMost = 4;
};

constexpr int kFewestEdges = 64;  // with which a period is known

// Returns the period with the largest share of classes that have few edges.
inline int period_of(const std::vector<int64_t>& edges) {
    int64_t all = 0;
    for (const int64_t count : edges) all += count;
    int found = 1, most_sparse = 0;
    for (int period = 2; all >= kFewestEdges && period <= Periods::kMost; ++period) {
        int sparse = 0;
        for (int first = 0; first < period; ++first) {
            int64_t own = 0;
            for (size_t i = first; i < edges.size(); i += period) own += edges[i];
            sparse += 8 * period * own <= all;
        }
        if (sparse * found > most_sparse * period) found = period, most_sparse = sparse;
    }
    return found;
}

// Returns the periods of a plane of two values.
inline Periods periods_of(const uint16_t* samples, int height, int width) {
    std::vector<int64_t> columns(width), rows(height);
    for (int row = 0; row < height; ++row) {
        const uint16_t* here = samples + int64_t{row} * width;
        for (int column = 1; column < width; ++column)
            columns[column] += here[column] != here[column - 1];
        for (int column = 0; row && column < width; ++column)
            rows[row] += here[column] != here[column - width];
    }
    return {period_of(columns), period_of(rows)};
}

}  // namespace mmp
