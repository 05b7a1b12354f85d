// The cells of one dictionary: a cell lists the newest elements with similar means of their parts,
// so that a new element is compared with few others. Source: section "Dictionary" of
// docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cpu/runtime/arena.h"
#include "cpu/runtime/simd.h"
#include "cpu/trees/looks.h"
#include "shared/trees/redundancy.h"

namespace mmp {

class Cells {
public:
    // `reach`, 0 to 255: elements are near if the means of each part differ by at most this value.
    Cells(int reach, Arena& arena)
        : reach_(static_cast<uint8_t>(reach)), cells_(arena.zeros<Cell>(kCells)) {}

    MMP_INLINE void prefetch(int cell) const {
        __builtin_prefetch(cells_[cell].means);
        __builtin_prefetch(cells_[cell].indices);
    }

    // Returns a bit mask of the members of the cell that are near the element.
    MMP_INLINE uint32_t near(const PartMeans& parts) const {
        const Cell& cell = cells_[parts.cell];
        Bytes16 farthest{};
        for (int part = 0; part < kParts; ++part) {
            Bytes16 means;
            __builtin_memcpy(&means, cell.means[part], sizeof means);
            const Bytes16 mean = Bytes16{} + parts.means[part];
            const Bytes16 gap = (means > mean ? means : mean) - (means > mean ? mean : means);
            farthest = farthest > gap ? farthest : gap;
        }
        return lane_bits(farthest <= reach_) & ((1u << cell.count) - 1);
    }
    uint32_t member(int cell, int place) const { return cells_[cell].indices[place]; }

    // Adds an element; in a full cell it replaces the oldest member.
    MMP_INLINE void add(uint32_t index, const PartMeans& parts) {
        Cell& cell = cells_[parts.cell];
        int place = cell.count;
        if (place < kCellSize)
            ++cell.count;
        else
            place = cell.oldest, cell.oldest = static_cast<uint8_t>((place + 1) % kCellSize);
        // Stores whole vectors: a vector load that overlaps an earlier store of a part of it would
        // stall.
        constexpr Bytes16 kLanes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        const auto new_lane = kLanes == static_cast<uint8_t>(place);
        for (int part = 0; part < kParts; ++part) {
            Bytes16 means;
            __builtin_memcpy(&means, cell.means[part], sizeof means);
            means = new_lane ? Bytes16{} + parts.means[part] : means;
            __builtin_memcpy(cell.means[part], &means, sizeof means);
        }
        cell.indices[place] = static_cast<uint16_t>(index);
    }
    // Removes an element if the cell contains it.
    MMP_INLINE void remove(int cell, uint32_t index) {
        for (int place = 0; place < cells_[cell].count; ++place)
            if (cells_[cell].indices[place] == index) return close(cells_[cell], place);
    }

private:
    struct alignas(64) Cell {
        uint8_t means[kParts][kCellSize];
        uint16_t indices[kCellSize];
        uint8_t count;
        uint8_t oldest;  // place of the oldest member; a ring in order of age
    };

    static void close(Cell& cell, int place);

    uint8_t reach_;
    Cell* cells_;
};

}  // namespace mmp
