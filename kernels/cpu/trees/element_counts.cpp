#include "cpu/trees/element_counts.h"

#include <algorithm>

#include "shared/entropy/rate.h"

namespace mmp {

ElementCounts::ElementCounts(int scale, const Tools& tools, size_t capacity, Arena& arena)
    : scale_(scale),
      classes_(tools.index_classes),
      replacement_(tools.replacement),
      increment_(tools.index_classes ? 2 : 1),
      limit_(tools.dictionary_limit) {
    capacity = std::min<size_t>(capacity, limit_);
    blocks_ = static_cast<uint32_t>((capacity + kBlock - 1) / kBlock);
    class_ = arena.zeros<uint8_t>(capacity);
    count_ = arena.zeros<uint32_t>(capacity);
    block_total_ = arena.zeros<uint32_t>(size_t{blocks_} * (classes_ ? kClasses : 1));
}

// Moves an element to class c together with its count.
void ElementCounts::move(uint32_t index, int c) {
    const int64_t count = count_[index];
    add_count(index, -count);
    class_size_[class_[index]] -= 1;
    class_[index] = static_cast<uint8_t>(c);
    class_size_[c] += 1;
    add_count(index, count);
}

void ElementCounts::add_count(uint32_t index, int64_t amount) {
    const int c = class_[index];
    count_[index] = static_cast<uint32_t>(count_[index] + amount);
    class_total_[c] = static_cast<uint32_t>(class_total_[c] + amount);
    block_of(index) = static_cast<uint32_t>(block_of(index) + amount);
    largest_count_[c] = std::max(largest_count_[c], count_[index]);
}

bool ElementCounts::use(uint32_t index) {
    if (classes_) move(index, used_class(class_[index]));
    add_count(index, increment_);
    const int c = class_[index];
    if (class_total_[c] <= kMaxTotal) return false;
    halve(c);
    return true;
}

void ElementCounts::halve(int c) {
    largest_count_[c] = 0;
    for (uint32_t index = 0; index < size(); ++index)
        if (class_[index] == c) add_count(index, int64_t{(count_[index] + 1) / 2} - count_[index]);
}

uint32_t ElementCounts::cumulative(int c, uint32_t index) const {
    uint32_t sum = 0;
    const uint32_t* blocks = &block_total_[size_t{blocks_} * c];
    const uint32_t block = index / kBlock;
    for (uint32_t b = 0; b < block; ++b) sum += blocks[b];
    for (uint32_t i = block * kBlock; i < index; ++i) sum += class_[i] == c ? count_[i] : 0;
    return sum;
}

std::pair<uint32_t, uint32_t> ElementCounts::find(int c, uint32_t target) const {
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
