#include "cpu/trees/element_counts.h"

#include <algorithm>

#include "shared/entropy/rate.h"
#include "shared/trees/redundancy.h"

namespace mmp {

ElementCounts::ElementCounts(int scale, const Tools& tools)
    : scale_(scale),
      classes_(tools.index_classes),
      replacement_(tools.replacement),
      increment_(tools.index_classes ? 2 : 1),
      limit_(tools.dictionary_limit),
      blocks_((tools.dictionary_limit + kBlock - 1) / kBlock),
      block_total_(size_t{blocks_} * (classes_ ? kClasses : 1)) {}

uint32_t ElementCounts::place() {
    if (size() < limit_) return size();
    if (!replacement_ || start_ == limit_) return kNoIndex;
    for (int step = 0; step < kHandSteps; ++step) {
        const uint32_t index = hand_;
        hand_ = index + 1 < limit_ ? index + 1 : start_;
        if (count_[index] == 1) return index;
    }
    return kNoIndex;
}

void ElementCounts::restart(uint32_t index, int c) {
    move(index, c);
    add_count(index, 1 - int64_t{count_[index]});
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

void ElementCounts::add(int c) {
    class_.push_back(static_cast<uint8_t>(c));
    count_.push_back(0);
    class_size_[c] += 1;
    add_count(size() - 1, 1);
}

void ElementCounts::add_count(uint32_t index, int64_t amount) {
    const int c = class_[index];
    count_[index] = static_cast<uint32_t>(count_[index] + amount);
    class_total_[c] = static_cast<uint32_t>(class_total_[c] + amount);
    uint32_t& block = block_total_[size_t{blocks_} * c + index / kBlock];
    block = static_cast<uint32_t>(block + amount);
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
