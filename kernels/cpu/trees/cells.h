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
    // Elements are near if no part's sum differs by more than `reach`.
    Cells(int reach, Arena& arena)
        : reach_(static_cast<int16_t>(reach)), cells_(arena.zeros<Cell>(kCells)) {}

    MMP_INLINE void prefetch(int cell) const {
        const char* first = reinterpret_cast<const char*>(&cells_[cell]);
        for (size_t i = 0; i < sizeof(Cell); i += 64) __builtin_prefetch(first + i);
    }

    // Returns the members of a cell near an element, one bit each.
    MMP_INLINE uint32_t near(const PartSums& parts) const {
        const Cell& cell = cells_[parts.cell];
        const auto least = static_cast<int16_t>(-reach_);
        Shorts8 far[2] = {};
        for (int part = 0; part < kParts; ++part)
            for (int half = 0; half < 2; ++half) {
                Shorts8 sums;
                __builtin_memcpy(&sums, cell.sums[part] + 8 * half, sizeof sums);
                const Shorts8 gap = sums - parts.sums[part];
                far[half] |= (gap > reach_) | (gap < least);
            }
        return ~lane_bits(far[0], far[1]) & ((1u << cell.count) - 1);
    }
    uint32_t member(int cell, int place) const { return cells_[cell].indices[place]; }

    // Adds an element, which drives the oldest one out of a full cell.
    MMP_INLINE void add(uint32_t index, const PartSums& parts) {
        Cell& cell = cells_[parts.cell];
        int place = cell.count;
        if (place < kCellSize)
            ++cell.count;
        else
            place = cell.oldest, cell.oldest = static_cast<uint8_t>((place + 1) % kCellSize);
        for (int part = 0; part < kParts; ++part) cell.sums[part][place] = parts.sums[part];
        cell.indices[place] = static_cast<uint16_t>(index);
    }
    // Removes an element, if it is there.
    MMP_INLINE void remove(int cell, uint32_t index) {
        for (int place = 0; place < cells_[cell].count; ++place)
            if (cells_[cell].indices[place] == index) return close(cells_[cell], place);
    }

private:
    struct alignas(64) Cell {
        int16_t sums[kParts][kCellSize];
        uint16_t indices[kCellSize];
        uint8_t count;
        uint8_t oldest;  // place of the oldest member; the others follow in order, round the end
    };

    static void close(Cell& cell, int place);

    int16_t reach_;
    Cell* cells_;
};

}  // namespace mmp
