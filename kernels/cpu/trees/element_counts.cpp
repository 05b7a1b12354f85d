#include "cpu/trees/element_counts.h"

#include <algorithm>

#include "cpu/runtime/simd.h"
#include "shared/entropy/rate.h"

namespace mmp {

namespace {

// Returns the sum of counts[i] over the elements i of class c.
template <uint32_t Elements>
MMP_INLINE uint32_t sum_of_class(const uint8_t* classes, const uint32_t* counts, int c) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < Elements; ++i) sum += classes[i] == c ? counts[i] : 0;
    return sum;
}

}  // namespace

ElementCounts::ElementCounts(int scale, const Tools& tools, size_t capacity, Arena& arena)
    : scale_(scale),
      classes_(tools.index_classes ? kClasses : 1),
      replacement_(tools.replacement),
      increment_(tools.index_classes ? 2 : 1),
      limit_(tools.dictionary_limit) {
    capacity = std::min<size_t>(capacity, limit_);
    groups_ = static_cast<uint32_t>((capacity + kGroup - 1) / kGroup);
    group_total_ = arena.zeros<uint32_t>(size_t{classes_} * groups_);
}

// Moves an element with its count to class c.
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
    add_to_totals(index, static_cast<uint32_t>(amount));
    largest_count_[c] = std::max(largest_count_[c], count_[index]);
}

bool ElementCounts::use(uint32_t index) {
    if (classes_ > 1) move(index, used_class(class_[index]));
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

MMP_SIMD_LEVELS uint32_t ElementCounts::cumulative(int c, uint32_t index) const {
    uint32_t sum = 0, i = 0;
    for (const uint32_t* group = &group_total_[groups_ * c]; i + kGroup <= index; i += kGroup)
        sum += *group++;
    for (; i + kBlock <= index; i += kBlock) sum += block_total_[i / kBlock * classes_ + c];
    for (; i + kPiece <= index; i += kPiece)
        sum += sum_of_class<kPiece>(&class_[i], &count_[i], c);
    for (; i < index; ++i) sum += class_[i] == c ? count_[i] : 0;
    return sum;
}

MMP_SIMD_LEVELS std::pair<uint32_t, uint32_t> ElementCounts::find(int c, uint32_t target) const {
    uint32_t start = 0, index = 0;
    for (const uint32_t* group = &group_total_[groups_ * c]; start + *group <= target;
         ++group, index += kGroup)
        start += *group;
    for (const uint32_t* block = &block_total_[index / kBlock * classes_ + c];
         start + *block <= target; block += classes_, index += kBlock)
        start += *block;
    for (;; index += kPiece) {
        const uint32_t piece = sum_of_class<kPiece>(&class_[index], &count_[index], c);
        if (start + piece > target) break;
        start += piece;
    }
    for (;; ++index) {
        if (class_[index] != c) continue;
        if (start + count_[index] > target) return {index, start};
        start += count_[index];
    }
}

}  // namespace mmp
