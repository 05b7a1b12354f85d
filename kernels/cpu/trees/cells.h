// The cells of one dictionary, and the elements of a cell that are near a new one.
// Source: section "Dictionary" of docs/format/format.md.
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
    // Elements are near if no part's mean differs by more than `reach`, from 0 to 255.
    Cells(int reach, Arena& arena)
        : reach_(static_cast<uint8_t>(reach)), cells_(arena.zeros<Cell>(kCells)) {}

    MMP_INLINE void prefetch(int cell) const {
        __builtin_prefetch(cells_[cell].means);
        __builtin_prefetch(cells_[cell].indices);
    }

    // Returns the members of a cell near an element, one bit each.
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

    // Adds an element, which drives the oldest one out of a full cell.
    MMP_INLINE void add(uint32_t index, const PartMeans& parts) {
        Cell& cell = cells_[parts.cell];
        int place = cell.count;
        if (place < kCellSize)
            ++cell.count;
        else
            place = cell.oldest, cell.oldest = static_cast<uint8_t>((place + 1) % kCellSize);
        // Whole vectors, because a load of a vector waits for earlier stores into parts of it.
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
    // Removes an element, if it is there.
    MMP_INLINE void remove(int cell, uint32_t index) {
        for (int place = 0; place < cells_[cell].count; ++place)
            if (cells_[cell].indices[place] == index) return close(cells_[cell], place);
    }

private:
    struct alignas(64) Cell {
        uint8_t means[kParts][kCellSize];
        uint16_t indices[kCellSize];
        uint8_t count;
        uint8_t oldest;  // place of the oldest member; the others follow in order, round the end
    };

    static void close(Cell& cell, int place);

    uint8_t reach_;
    Cell* cells_;
};

}  // namespace mmp
