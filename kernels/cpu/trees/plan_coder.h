// Entropy coding of trees that a device chose: the host's part of the cuda backend.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "cpu/trees/models.h"
#include "cpu/trees/picture.h"

namespace mmp {

// Trees of some fragments that a device chose. Insertions that found no place count as well.
struct ChosenTrees {
    size_t fragments;
    const uint32_t* node_counts;  // of each fragment
    const uint32_t* nodes;        // of all fragments in coding order, see pack_node
    const uint32_t* insertions;   // into the dictionaries before each fragment, by scale
    const uint8_t* first_class;   // of each insertion, by scale; a ring of `room` entries a scale
    size_t room;
};

// Codes trees with the counts of the dictionaries, without their samples.
class TreeCoder {
public:
    TreeCoder(Plane plane, const Tools& tools);

    void code(const ChosenTrees& trees);

    const std::vector<uint8_t>& finish() { return coder_.finish(); }
    const Tally& tally() const { return models_.tally; }
    const CellRates& cells() const { return cells_; }

private:
    // Updates the counts of a dictionary up to this number of insertions.
    void insert(int scale, uint32_t insertions, const ChosenTrees& trees);

    Arena arena_;
    Models models_;
    CellRates cells_;  // a cell is a fragment
    int fragments_ = 0;  // so far
    std::vector<ElementCounts> counts_;  // by scale
    std::vector<uint32_t> insertions_;   // so far, by scale
    RangeEncoder coder_;
};

}  // namespace mmp
