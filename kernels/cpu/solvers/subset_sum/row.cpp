#include "cpu/solvers/subset_sum/row.h"

#include <string.h>

#include <algorithm>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

typedef uint64_t Longs8 __attribute__((vector_size(64)));
typedef int8_t Flags8 __attribute__((vector_size(8)));

constexpr int kFew = 2;

// Adds an item. Calls fresh(word, bits) for each group of kRowWords words from `word` up, with the
// newly set bits.
template <class Fresh>
MMP_INLINE void add(uint64_t* bits, int64_t first, int64_t last, int64_t weight,
                    const Fresh& fresh) {
    const int64_t back = weight / 64;
    const int shift = weight % 64;
    first = std::max(first, back / kRowWords * kRowWords);
    for (int64_t at = last - kRowWords; at >= first; at -= kRowWords) {
        Longs8 upper, lower, old;
        memcpy(&upper, bits + at - back, sizeof upper);
        memcpy(&lower, bits + at - back - 1, sizeof lower);
        memcpy(&old, bits + at, sizeof old);
        // Two right shifts, because one shift by 64 is undefined.
        const Longs8 moved = (upper << shift) | ((lower >> 1) >> (63 - shift));
        const Longs8 now = old | moved;
        memcpy(bits + at, &now, sizeof now);
        fresh(at, now ^ old);
    }
}

// Sets makers[bit] = item for each newly set bit; branchless if there are more than kFew.
template <class Item>
MMP_INLINE void note(Item* makers, Item item, uint64_t gained) {
    typedef Item Lanes __attribute__((vector_size(16 * sizeof(Item))));
    if (__builtin_popcountll(gained) <= kFew) {
        for (; gained; gained &= gained - 1) makers[__builtin_ctzll(gained)] = item;
        return;
    }
    constexpr Lanes kBits = {1 << 0, 1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                             1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
    const Lanes items = Lanes{} + item;
    for (int first = 0; first < 64; first += 16) {
        Lanes lanes;
        memcpy(&lanes, makers + first, sizeof lanes);
        const Item part = static_cast<Item>(gained >> first);
        lanes = (kBits & part) != 0 ? items : lanes;
        memcpy(makers + first, &lanes, sizeof lanes);
    }
}

template <class Item>
MMP_INLINE void add_noting(uint64_t* bits, int64_t first, int64_t last, int64_t weight,
                           Item* makers, Item item) {
    add(bits, first, last, weight, [&](int64_t at, const Longs8& gained) {
        const Flags8 some = __builtin_convertvector(gained != 0, Flags8);
        uint64_t any;
        memcpy(&any, &some, sizeof any);
        if (!any) return;
        for (int word = 0; word < kRowWords; ++word)
            if (gained[word]) note(makers + (at + word) * 64, item, gained[word]);
    });
}

}  // namespace

MMP_SIMD_LEVELS
void add_item(uint64_t* bits, int64_t first, int64_t last, int64_t weight) {
    add(bits, first, last, weight, [](int64_t, const Longs8&) {});
}

MMP_SIMD_LEVELS
void add_item(uint64_t* bits, int64_t first, int64_t last, int64_t weight, uint16_t* makers,
              uint16_t item) {
    add_noting(bits, first, last, weight, makers, item);
}

MMP_SIMD_LEVELS
void add_item(uint64_t* bits, int64_t first, int64_t last, int64_t weight, uint32_t* makers,
              uint32_t item) {
    add_noting(bits, first, last, weight, makers, item);
}

}  // namespace mmp
