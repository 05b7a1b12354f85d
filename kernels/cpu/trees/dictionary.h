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
    // Insertion of an element of this hash will come soon: its slot is needed, and a little later
    // the element that is there.
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
    // Adds an element unless it is redundant or there is no place; gives its index, or kNoIndex.
    // The origin is a scale, or kDisplacedClass.
    uint32_t insert(const uint8_t* samples, uint32_t hash, int origin);

private:
    static constexpr int kCacheLine = 64;

    // Open addressing by the hash of the samples.
    struct Slot {
        uint32_t hash;
        uint32_t number;  // of the element, plus 1; 0 where the slot is free
    };

    size_t next(size_t slot) const { return (slot + 1) & (table_.size() - 1); }
    // The first slot from that of a hash on that is free, or for which same(number) holds of the
    // element.
    template <class Same>
    size_t find(uint32_t hash, const Same& same) const;
    void grow_table();

    // What the redundancy radius looks at before the samples: the cell, and the sums of the parts
    // whose means name it.
    struct Look {
        uint8_t cell;
        std::array<int16_t, 4> sums;
    };
    // An element of a cell, and these sums.
    struct Member {
        uint32_t index;
        std::array<int16_t, 4> sums;
    };
    // The oldest member first.
    struct Cell {
        std::array<Member, kCellSize> members;
        int count = 0;

        void add(const Member& member);
        void remove(uint32_t index);
    };
    // What finds an element again when it is to give way.
    struct Trail {
        uint32_t hash;
        uint8_t cell;
    };

    Look look_at(const uint8_t* samples) const;
    bool redundant(const uint8_t* samples, const Look& look) const;
    void forget(uint32_t index);
    // Makes these samples the element of this index, which is free.
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
