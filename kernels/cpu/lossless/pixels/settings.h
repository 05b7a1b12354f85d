// What the forms have. Source: the table of section "Repeating pixels" of docs/format/format.md.
#pragma once

#include <array>

namespace mmp::pixels {

struct Settings {
    int lists;                    // contexts of colours
    std::array<int, 12> of_list;  // number of each
    int sets;                     // of weights of a question
    int values;                   // contexts of a bit of an escaped sample
    std::array<int, 9> of_value;  // number of each
    int value_sets;               // of weights of a bit
    int list_bits, value_bits;    // of the sizes of tables
};

// By form.
constexpr Settings kSettings[3] = {
    {2, {1, 3}, 1, 5, {0, 3, 5, 6, 8}, 1, 16, 16},
    {8, {0, 1, 2, 3, 4, 5, 6, 7}, 2, 9, {0, 1, 2, 3, 4, 5, 6, 7, 8}, 2, 17, 17},
    {12, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 2, 9, {0, 1, 2, 3, 4, 5, 6, 7, 8}, 2, 18, 18},
};

}  // namespace mmp::pixels
