#include "dictionary.h"

#include <algorithm>
#include <cstring>

namespace mmp {

Dictionary::Dictionary(int scale, const Tools& tools)
    : ElementCounts(scale, tools),
      area_(scale_area(scale)),
      limit_(tools.dictionary_limit),
      classes_(tools.index_classes),
      table_(4 * kGreyLevels) {
    std::vector<uint8_t> constant(area_);
    for (int level = 0; level < kGreyLevels; ++level) {
        std::fill(constant.begin(), constant.end(), static_cast<uint8_t>(level));
        insert(constant.data(), kPixelScale);
    }
}

uint32_t Dictionary::hash(const uint8_t* samples) const {
    constexpr uint64_t multiplier = 0x9E3779B97F4A7C15;
    uint64_t state = 0;
    if (area_ < 8) {
        std::memcpy(&state, samples, static_cast<size_t>(area_));
        state *= multiplier;
    }
    for (int i = 0; i + 8 <= area_; i += 8) {
        uint64_t word;
        std::memcpy(&word, samples + i, 8);
        state = (state ^ word) * multiplier;
        state ^= state >> 32;
    }
    return static_cast<uint32_t>(state >> 32 ^ state);
}

bool Dictionary::insert(const uint8_t* samples, int origin) {
    const uint32_t key = hash(samples);
    size_t slot = key & (table_.size() - 1);
    for (; table_[slot].number; slot = (slot + 1) & (table_.size() - 1))
        if (table_[slot].hash == key &&
            !std::memcmp(element(table_[slot].number - 1), samples, area_))
            return false;
    if (size() == limit_) return false;

    int c = 0;
    if (classes_) {
        const bool zero =
            std::all_of(samples, samples + area_, [](uint8_t s) { return s == kMidLevel; });
        c = zero ? kZeroClass : origin;
    }
    const uint32_t index = size();
    samples_.insert(samples_.end(), samples, samples + area_);
    add(c);
    table_[slot] = {key, index + 1};
    if (2 * size() > table_.size()) grow_table();
    return true;
}

void Dictionary::grow_table() {
    std::vector<Slot> table(2 * table_.size());
    for (const Slot& old : table_) {
        if (!old.number) continue;
        size_t slot = old.hash & (table.size() - 1);
        while (table[slot].number) slot = (slot + 1) & (table.size() - 1);
        table[slot] = old;
    }
    table_.swap(table);
}

}  // namespace mmp
