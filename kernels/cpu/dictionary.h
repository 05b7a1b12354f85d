// The dictionary of one scale. Source: section "Dictionary" of docs/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "element_counts.h"

namespace mmp {

class Dictionary : public ElementCounts {
public:
    Dictionary(int scale, const Tools& tools);

    int area() const { return area_; }
    const uint8_t* element(uint32_t index) const { return &samples_[size_t{index} * area_]; }

    // Adds an element unless an equal one exists or the dictionary is full.
    bool insert(const uint8_t* samples, int origin);

private:
    // Open addressing by the hash of the samples.
    struct Slot {
        uint32_t hash;
        uint32_t number;  // of the element, plus 1; 0 where the slot is free
    };

    uint32_t hash(const uint8_t* samples) const;
    void grow_table();

    int area_;
    uint32_t limit_;
    bool classes_;
    std::vector<uint8_t> samples_;
    std::vector<Slot> table_;
};

}  // namespace mmp
