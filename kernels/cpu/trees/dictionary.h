// The dictionary of one scale. Source: section "Dictionary" of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "cpu/trees/cells.h"
#include "cpu/trees/element_counts.h"
#include "cpu/trees/element_table.h"
#include "cpu/trees/rescale.h"

namespace mmp {

// A batch of elements to insert into one dictionary, in order.
struct Candidates {
    static constexpr int kMost = 64;

    int count = 0;
    uint8_t origin[kMost];  // scale of origin, or kDisplacedClass
    uint32_t index[kMost];  // set by insert(): index of the new element, or kNoIndex
    alignas(64) uint8_t samples[kMost * kFragmentArea + kBeyond];
};

class Dictionary : public ElementCounts {
public:
    // Arguments as in ElementCounts.
    Dictionary(int scale, const Tools& tools, size_t capacity, Arena& arena);

    int area() const { return area_; }
    const uint8_t* element(uint32_t index) const {
        return chunks_[index >> chunk_log2_] + (index & ((1 << chunk_log2_) - 1)) * area_;
    }

    // Inserts each candidate in order, unless it is redundant or the dictionary is full.
    void insert(Candidates& candidates);

private:
    template <int AreaLog2>
    void insert_all(Candidates& candidates);
    // Prefetches the memory that the insertions read, so that the cache misses overlap.
    template <int AreaLog2>
    void prefetch(const Look* looks, int count) const;
    template <int AreaLog2>
    uint32_t insert_one(const uint8_t* samples, const Look& look, int origin);
    template <int AreaLog2>
    bool known(const uint8_t* samples, const Look& look) const;
    template <int AreaLog2>
    bool near(const uint8_t* samples, const Look& look) const;
    // Stores an element at an index, in place of the one there.
    void put(uint32_t index, const uint8_t* samples, const Look& look, int origin);

    int area_;
    bool classes_;
    int radius_;
    Arena& arena_;
    int chunk_log2_;  // log2 of the number of elements per chunk
    std::vector<uint8_t*> chunks_;  // samples of the elements; chunks never move
    ElementTable table_;
    Cells cells_;
    std::vector<uint8_t> cell_of_;  // cell number by index
};

}  // namespace mmp
