// The last colours of a context. Source: section "Repeating pixels", "Lists", of
// docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>

#include "cpu/lossless/pixels/mixing.h"
#include "cpu/lossless/pixels/colours.h"

namespace mmp::pixels {

constexpr int kListed = 3;

// Colours with the number of times each occurred, the last one first; counts of 0 end the list.
struct List {
    Colour colours[kListed];
    uint8_t counts[kListed];
    uint8_t check;

    void see(Colour colour) {
        int rank = 0;
        while (rank < kListed && counts[rank] && colours[rank] != colour) ++rank;
        const bool known = rank < kListed && counts[rank];
        const uint8_t count = known ? uint8_t(counts[rank] + (counts[rank] < 255)) : 1;
        for (int i = std::min(rank, kListed - 1); i > 0; --i)
            colours[i] = colours[i - 1], counts[i] = counts[i - 1];
        for (int i = 1; i < kListed; ++i)
            if (counts[i] > 2) counts[i] >>= 1;
        colours[0] = colour, counts[0] = count;
    }
};

constexpr int kListStates = 4 * 8 * 6;

struct ListLevels {
    uint8_t own[256], others[256];
    uint16_t start[kListStates];

    ListLevels() {
        for (int n = 0; n < 256; ++n) {
            own[n] = uint8_t(n < 4 ? n : n < 6 ? 4 : n < 9 ? 5 : n < 16 ? 6 : 7);
            others[n] = uint8_t(n < 3 ? n : n < 5 ? 3 : n < 9 ? 4 : 5);
        }
        constexpr int kOwnCounts[8] = {0, 4, 8, 12, 18, 28, 48, 120}, kOtherCounts[6] = {0, 4, 8, 14, 24, 56};
        for (int state = 0; state < kListStates; ++state) {
            const int own_count = kOwnCounts[state >> 2 & 7], other = kOtherCounts[state >> 5];
            const int one = (state & 3) == kListed
                                ? 65536 * 12 / (40 + 10 * other)
                                : 65536 * (10 * own_count + 8) / (10 * (own_count + other) + 32);
            start[state] = uint16_t(std::clamp(one, 32, 65504));
        }
    }
};
inline const ListLevels kListLevels;

// Candidates that were asked and refused.
struct Refused {
    int count = 0;
    Colour colours[3];

    MMP_INLINE bool has(Colour colour) const {
        for (int i = 0; i < count; ++i)
            if (colours[i] == colour) return true;
        return false;
    }
};

// Returns what a list says of a colour, or -1 if nothing.
MMP_INLINE int list_state(const List& list, Colour colour, const Refused& refused) {
    int rank = kListed, own = 0, others = 0;
    for (int i = 0; i < kListed && list.counts[i]; ++i) {
        if (list.colours[i] == colour)
            rank = i, own = list.counts[i];
        else if (!refused.has(list.colours[i]))
            others += list.counts[i];
    }
    if (rank == kListed && others == 0) return -1;
    return rank | kListLevels.own[own] << 2 | kListLevels.others[std::min(others, 255)] << 5;
}

class ListTable {
public:
    explicit ListTable(int bits) : shift_(32 - bits), lists_(size_t{1} << bits, true) {}

    // Returns the list of a context. Two lists share a bucket; the poorer one makes room.
    MMP_INLINE List& find(uint32_t context, int number) {
        const uint32_t hash = chained(context, 0x51ED27u * (number + 1));
        const uint8_t check = uint8_t(hash & 255) | 1;
        List* one = &lists_[hash >> shift_];
        List* other = &lists_[(hash >> shift_) ^ 1];
        if (one->check == check) return *one;
        if (other->check == check) return *other;
        if (one->counts[0] > other->counts[0]) std::swap(one, other);
        if (other->counts[0] > 1) --other->counts[0];
        *one = {};
        one->check = check;
        return *one;
    }

private:
    const int shift_;
    ZeroedLines<List> lists_;
};

}  // namespace mmp::pixels
