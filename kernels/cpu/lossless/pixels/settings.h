// What the forms have. Source: the table of section "Repeating pixels" of docs/format/format.md.
#pragma once

#include <array>

namespace mmp::pixels {

struct Settings {
    int lists;               // contexts of colours
    std::array<int, 12> of_list;  // number of each context
    int directs;             // contexts of the decision besides the lists
    int sets;                // of weights of this decision
    int value_sets;          // of weights of a bit of an escaped sample
    int value_contexts;      // of an escaped sample
    std::array<int, 11> of_value;  // number of each context
    int predictors;          // of an escaped sample of the first plane
    bool shapes;
    int list_bits, value_bits;  // of the sizes of tables
};

// Contexts are numbered: 0 to 5 are the nearest 2, 4, 6, 10, 16 and 24 pixels.
constexpr Settings kSettings[4] = {
    {2, {1, 3}, 3, 1, 1, 5, {0, 3, 11, 5, 6}, 3, true, 16, 16},
    {5, {0, 1, 2, 3, 4}, 3, 2, 2, 11, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 6, true, 17, 17},
    {12, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 2, 3, 11, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 9, true, 18, 18},
    {12, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 2, 3, 11, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 9, true, 18, 18},
};

}  // namespace mmp::pixels
