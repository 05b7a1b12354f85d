// Entropy coding of trees that a device chose: the host's part of the cuda backend.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "cpu/trees/models.h"
#include "cpu/trees/picture.h"

namespace mmp {

// Trees of some fragments that a device chose. Insertions include those that found no place.
struct ChosenTrees {
    size_t fragments;
    const uint32_t* node_counts;  // number of nodes of each fragment
    const uint32_t* nodes;        // nodes of all fragments in coding order, see pack_node
    const uint32_t* insertions;   // insertions into the dictionaries before each fragment, by scale
    const uint8_t* first_class;   // class of each insertion, by scale; rings of `room` entries
    size_t room;
};

// Codes trees using only the use counts of the dictionaries; samples are not needed.
class TreeCoder {
public:
    TreeCoder(Plane plane, const Tools& tools);

    void code(const ChosenTrees& trees);

    const std::vector<uint8_t>& finish() { return coder_.finish(); }
    const Tally& tally() const { return models_.tally; }
    const CellRates& cells() const { return cells_; }

private:
    // Updates the use counts of a dictionary until it has seen this number of insertions.
    void insert(int scale, uint32_t insertions, const ChosenTrees& trees);

    Arena arena_;
    Models models_;
    CellRates cells_;  // one cell per fragment
    int fragments_ = 0;  // number of fragments coded
    std::vector<ElementCounts> counts_;  // by scale
    std::vector<uint32_t> insertions_;   // insertions done, by scale
    RangeEncoder coder_;
};

}  // namespace mmp
