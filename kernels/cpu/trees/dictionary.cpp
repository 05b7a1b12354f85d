#include "cpu/trees/dictionary.h"

#include <algorithm>
#include <cstring>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

constexpr int kChunkBytesLog2 = 14;

// Largest difference of the rounded means of a part at which two elements can be within the radius:
// the part's squared error is at least (difference of its sums)^2 / (number of its samples).
int reach_of(int radius, int scale) {
    const int part = scale_area(scale) >> (quarters_down(scale) + quarters_across(scale));
    int reach = 0;
    while (reach * reach * part <= radius) ++reach;
    return std::min(reach, kGreyLevels - 1);
}

template <int Area>
MMP_INLINE bool equal(const uint8_t* x, const uint8_t* y) {
    if constexpr (Area < 8) return !std::memcmp(x, y, Area);
    uint64_t difference = 0;
    for (int i = 0; i + 8 <= Area; i += 8) {
        uint64_t a, b;
        std::memcpy(&a, x + i, 8);
        std::memcpy(&b, y + i, 8);
        difference |= a ^ b;
    }
    return !difference;
}

template <int Area>
MMP_INLINE int distance(const uint8_t* x, const uint8_t* y) {
    int sum = 0;
#ifdef __wasm_simd128__
    if constexpr (Area >= 8) {
        Ints4 sums{};
        for (int i = 0; i < Area; i += 8) {
            const auto lanes = [i](const uint8_t* samples) {
                return __builtin_convertvector(loaded<Bytes8>(samples + i), Shorts8);
            };
            const Shorts8 difference = lanes(x) - lanes(y);
            sums += sums_of_pairs(difference, difference);
        }
        return sums[0] + sums[1] + sums[2] + sums[3];
    }
#endif
    for (int i = 0; i < Area; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sum;
}

}  // namespace

template <int AreaLog2>
MMP_INLINE void Dictionary::prefetch(const Look* looks, int count) const {
    constexpr int kArea = 1 << AreaLog2, kCacheLine = 64;
    for (int i = 0; i < count; ++i) {
        table_.prefetch(looks[i].hash);
        if (radius_) cells_.prefetch(looks[i].parts.cell);
    }
    for_each_next(count, [&](uint32_t index) MMP_INLINED { table_.prefetch_element(index); });
    if (!size()) return;
    // If no tag matches, likely() returns the newest element, which is in the cache. A branch on
    // the tags would often be mispredicted.
    for (int i = 0; i < count; ++i) {
        const uint8_t* likely = element(table_.likely(looks[i].hash, size() - 1));
        for (int sample = 0; sample < kArea; sample += kCacheLine)
            __builtin_prefetch(likely + sample);
    }
}

template <int AreaLog2>
MMP_INLINE bool Dictionary::known(const uint8_t* samples, const Look& look) const {
    constexpr int kArea = 1 << AreaLog2;
    return table_.any(look.hash, [&](uint32_t index) { return equal<kArea>(element(index), samples); });
}

template <int AreaLog2>
MMP_INLINE bool Dictionary::near(const uint8_t* samples, const Look& look) const {
    constexpr int kArea = 1 << AreaLog2;
    if (!radius_) return false;
    for (uint32_t near = cells_.near(look.parts); near; near &= near - 1) {
        const uint32_t index = cells_.member(look.parts.cell, __builtin_ctz(near));
        if (distance<kArea>(samples, element(index)) <= radius_) return true;
    }
    return false;
}

void Dictionary::put(uint32_t index, const uint8_t* samples, const Look& look, int origin) {
    if (index < size()) {
        table_.remove(index);
        if (radius_) cells_.remove(cell_of_[index], index);
    }
    int c = 0;
    if (classes_) {
        const auto mid = [](uint8_t sample) { return sample == kMidLevel; };
        c = std::all_of(samples, samples + area_, mid) ? kZeroClass : origin;
    }
    if (index >> chunk_log2_ == chunks_.size())
        chunks_.push_back(arena_.zeros<uint8_t>(size_t{1} << kChunkBytesLog2));
    std::memcpy(const_cast<uint8_t*>(element(index)), samples, area_);
    if (index == size())
        add(c);
    else
        restart(index, c);
    table_.add(index, look.hash);
    if (radius_) cells_.add(index, look.parts);
    if (index == cell_of_.size()) cell_of_.emplace_back();
    cell_of_[index] = look.parts.cell;
}

template <int AreaLog2>
MMP_INLINE uint32_t Dictionary::insert_one(const uint8_t* samples, const Look& look, int origin) {
    if (known<AreaLog2>(samples, look) || near<AreaLog2>(samples, look)) return kNoIndex;
    const uint32_t index = place();
    if (index == kNoIndex) return kNoIndex;
    put(index, samples, look, origin);
    return index;
}

template <int AreaLog2>
MMP_INLINE void Dictionary::insert_all(Candidates& candidates) {
    Look looks[Candidates::kMost];
    look_at(scale(), candidates.samples, candidates.count, looks);
    prefetch<AreaLog2>(looks, candidates.count);
    for (int i = 0; i < candidates.count; ++i)
        candidates.index[i] = insert_one<AreaLog2>(candidates.samples + (i << AreaLog2), looks[i],
                                                   candidates.origin[i]);
    candidates.count = 0;
}

MMP_SIMD_LEVELS void Dictionary::insert(Candidates& candidates) {
    switch (area_log2(scale())) {
        case 0: return insert_all<0>(candidates);
        case 1: return insert_all<1>(candidates);
        case 2: return insert_all<2>(candidates);
        case 3: return insert_all<3>(candidates);
        case 4: return insert_all<4>(candidates);
        case 5: return insert_all<5>(candidates);
        case 6: return insert_all<6>(candidates);
        case 7: return insert_all<7>(candidates);
        default: return insert_all<8>(candidates);
    }
}

// The constructor follows insert(), because clang ignores SIMD levels of a function that was called
// before its definition.
Dictionary::Dictionary(int scale, const Tools& tools, size_t capacity, Arena& arena)
    : ElementCounts(scale, tools, capacity, arena),
      area_(scale_area(scale)),
      classes_(tools.index_classes),
      radius_(scale == kPixelScale ? 0 : tools.redundancy_radius),
      arena_(arena),
      chunk_log2_(kChunkBytesLog2 - area_log2(scale)),
      table_(arena),
      cells_(reach_of(radius_, scale), arena) {
    Candidates constants;
    for (int level = 0; level < kGreyLevels; ++level) {
        std::fill_n(constants.samples + constants.count * area_, area_, static_cast<uint8_t>(level));
        constants.origin[constants.count++] = kPixelScale;
        if (constants.count == Candidates::kMost) insert(constants);
    }
    keep_all();
}

}  // namespace mmp
