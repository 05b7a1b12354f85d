#include "dictionary.h"

#include <algorithm>
#include <cstring>

#include "../shared/rate.h"

namespace mmp {

Dictionary::Dictionary(int scale, const Tools& tools)
    : scale_(scale),
      area_(scale_area(scale)),
      limit_(tools.dictionary_limit),
      increment_(tools.index_classes ? 2 : 1),
      blocks_((limit_ + kBlock - 1) / kBlock),
      classes_(tools.index_classes),
      table_(4 * kGreyLevels),
      block_total_(size_t{blocks_} * (classes_ ? kClasses : 1)) {
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
    class_.push_back(static_cast<uint8_t>(c));
    count_.push_back(0);
    class_size_[c] += 1;
    add_count(index, 1);
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

void Dictionary::add_count(uint32_t index, int64_t amount) {
    const int c = class_[index];
    count_[index] = static_cast<uint32_t>(count_[index] + amount);
    class_total_[c] = static_cast<uint32_t>(class_total_[c] + amount);
    uint32_t& block = block_total_[size_t{blocks_} * c + index / kBlock];
    block = static_cast<uint32_t>(block + amount);
    largest_count_[c] = std::max(largest_count_[c], count_[index]);
}

bool Dictionary::use(uint32_t index) {
    if (classes_ && class_[index] < kScales) {
        const int64_t count = count_[index];
        add_count(index, -count);
        class_size_[class_[index]] -= 1;
        class_[index] = static_cast<uint8_t>(class_[index] + kScales);
        class_size_[class_[index]] += 1;
        add_count(index, count);
    }
    add_count(index, increment_);
    const int c = class_[index];
    if (class_total_[c] <= kMaxTotal) return false;
    halve(c);
    return true;
}

void Dictionary::halve(int c) {
    largest_count_[c] = 0;
    for (uint32_t index = 0; index < size(); ++index)
        if (class_[index] == c) add_count(index, int64_t{(count_[index] + 1) / 2} - count_[index]);
}

uint32_t Dictionary::cumulative(int c, uint32_t index) const {
    uint32_t sum = 0;
    const uint32_t* blocks = &block_total_[size_t{blocks_} * c];
    const uint32_t block = index / kBlock;
    for (uint32_t b = 0; b < block; ++b) sum += blocks[b];
    for (uint32_t i = block * kBlock; i < index; ++i) sum += class_[i] == c ? count_[i] : 0;
    return sum;
}

std::pair<uint32_t, uint32_t> Dictionary::find(int c, uint32_t target) const {
    uint32_t start = 0, index = 0;
    for (const uint32_t* block = &block_total_[size_t{blocks_} * c]; start + *block <= target;
         ++block, index += kBlock)
        start += *block;
    for (;; ++index) {
        if (class_[index] != c) continue;
        if (start + count_[index] > target) return {index, start};
        start += count_[index];
    }
}

}  // namespace mmp
