// The dictionary of one scale. Source: section "Dictionary" of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <array>
#include <vector>

#include "shared/trees/redundancy.h"
#include "cpu/trees/element_counts.h"

namespace mmp {

class Dictionary : public ElementCounts {
public:
    Dictionary(int scale, const Tools& tools);

    int area() const { return area_; }
    const uint8_t* element(uint32_t index) const { return &samples_[size_t{index} * area_]; }

    uint32_t hash(const uint8_t* samples) const;
    // Prefetch the memory that the insertion of an element of this hash reads: its slot, and later
    // the element in that slot.
    void prefetch_slot(uint32_t hash) const {
        __builtin_prefetch(&table_[hash & (table_.size() - 1)]);
    }
    void prefetch_element(uint32_t hash) const {
        size_t slot = hash & (table_.size() - 1);
        while (table_[slot].number && table_[slot].hash != hash) slot = next(slot);
        if (!table_[slot].number) return;
        const uint8_t* samples = element(table_[slot].number - 1);
        for (int i = 0; i < area_; i += kCacheLine) __builtin_prefetch(samples + i);
    }
    // Adds an element unless it is redundant or the dictionary has no place; returns its index or
    // kNoIndex. The origin is a scale, or kDisplacedClass.
    uint32_t insert(const uint8_t* samples, uint32_t hash, int origin);

private:
    static constexpr int kCacheLine = 64;

    // Open addressing by the hash of the samples.
    struct Slot {
        uint32_t hash;
        uint32_t number;  // index of the element, plus 1; 0 for a free slot
    };

    size_t next(size_t slot) const { return (slot + 1) & (table_.size() - 1); }
    // Returns the first slot, from that of a hash on, that is free or matches hash and same(index).
    template <class Same>
    size_t find(uint32_t hash, const Same& same) const;
    void grow_table();

    // The data that a redundancy check reads first: the cell and the sums of the quarters.
    struct Look {
        uint8_t cell;
        std::array<int16_t, 4> sums;
    };
    // An element of a cell, and the sums of its quarters.
    struct Member {
        uint32_t index;
        std::array<int16_t, 4> sums;
    };
    // Members in order of insertion, the oldest first.
    struct Cell {
        std::array<Member, kCellSize> members;
        int count = 0;

        void add(const Member& member);
        void remove(uint32_t index);
    };
    // The hash and the cell of an element, by which its replacement finds them.
    struct Trail {
        uint32_t hash;
        uint8_t cell;
    };

    Look look_at(const uint8_t* samples) const;
    bool redundant(const uint8_t* samples, const Look& look) const;
    void forget(uint32_t index);
    // Writes the element of a free index.
    void put(uint32_t index, const uint8_t* samples, uint32_t hash, const Look& look, int origin);

    int area_;
    int part_area_;  // samples of a half or quarter
    bool classes_;
    int radius_;
    std::vector<uint8_t> samples_;
    std::vector<Slot> table_;
    std::vector<Cell> cells_;
    std::vector<Trail> trails_;  // by index; with replacement only
};

}  // namespace mmp
