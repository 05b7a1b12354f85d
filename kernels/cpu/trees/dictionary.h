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

// Elements that wait for their insertion into one dictionary, in order.
struct Candidates {
    static constexpr int kMost = 64;

    int count = 0;
    uint8_t origin[kMost];  // a scale, or kDisplacedClass
    uint32_t index[kMost];  // after the insertion: of the new element, or kNoIndex
    alignas(64) uint8_t samples[kMost * kFragmentArea + kBeyond];
};

class Dictionary : public ElementCounts {
public:
    // As ElementCounts.
    Dictionary(int scale, const Tools& tools, size_t capacity, Arena& arena);

    int area() const { return area_; }
    const uint8_t* element(uint32_t index) const {
        return chunks_[index >> chunk_log2_] + (index & ((1 << chunk_log2_) - 1)) * area_;
    }

    // Adds each candidate unless it is redundant or the dictionary has no place.
    void insert(Candidates& candidates);

private:
    template <int AreaLog2>
    void insert_all(Candidates& candidates);
    // Prefetches what the insertions read, so that they wait for memory together.
    template <int AreaLog2>
    void prefetch(const Look* looks, int count) const;
    template <int AreaLog2>
    uint32_t insert_one(const uint8_t* samples, const Look& look, int origin);
    template <int AreaLog2>
    bool known(const uint8_t* samples, const Look& look) const;
    template <int AreaLog2>
    bool near(const uint8_t* samples, const Look& look) const;
    // Writes the element of a free index.
    template <int AreaLog2>
    void put(uint32_t index, const uint8_t* samples, const Look& look, int origin);

    int area_;
    bool classes_;
    int radius_;
    Arena& arena_;
    int chunk_log2_;  // of the number of elements of a chunk
    std::vector<uint8_t*> chunks_;  // samples of the elements, which never move
    ElementTable table_;
    Cells cells_;
    uint8_t* cell_of_;  // by index
};

}  // namespace mmp
