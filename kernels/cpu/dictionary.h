// The dictionary of one scale. Source: section "Dictionary" of docs/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "element_counts.h"

namespace mmp {

constexpr uint32_t kNoIndex = UINT32_MAX;

class Dictionary : public ElementCounts {
public:
    Dictionary(int scale, const Tools& tools);

    int area() const { return area_; }
    const uint8_t* element(uint32_t index) const { return &samples_[size_t{index} * area_]; }

    uint32_t hash(const uint8_t* samples) const;
    // Insertion of an element of this hash will come soon.
    void prefetch(uint32_t hash) const { __builtin_prefetch(&table_[hash & (table_.size() - 1)]); }
    // Adds an element unless it is redundant or there is no place; gives its index, or kNoIndex.
    // The origin is a scale, or kDisplacedClass.
    uint32_t insert(const uint8_t* samples, uint32_t hash, int origin);

private:
    // Open addressing by the hash of the samples.
    struct Slot {
        uint32_t hash;
        uint32_t number;  // of the element, plus 1; 0 where the slot is free
    };

    size_t next(size_t slot) const { return (slot + 1) & (table_.size() - 1); }
    // The slot of an equal element, or the free one where it belongs.
    size_t find(const uint8_t* samples, uint32_t hash) const;
    void grow_table();

    // What the redundancy radius looks at before the samples.
    struct Look {
        int cell, sum;
    };
    // An element of a cell, and the sum of its samples.
    struct Member {
        uint32_t index;
        int sum;
    };

    Look look_at(const uint8_t* samples) const;
    bool redundant(const uint8_t* samples, const Look& look) const;
    // The element that gives way in a full dictionary, or kNoIndex.
    uint32_t replaced();
    void forget(uint32_t index);
    // Makes these samples the element of this index, which is free.
    void put(uint32_t index, const uint8_t* samples, uint32_t hash, const Look& look, int origin);

    int area_;
    uint32_t limit_;
    bool classes_, replacement_;
    int radius_;
    uint32_t start_, hand_;  // elements at the start; where replacement looks next
    std::vector<uint8_t> samples_;
    std::vector<Slot> table_;
    std::vector<std::vector<Member>> cells_;  // the oldest member first
};

}  // namespace mmp
