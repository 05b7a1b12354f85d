// The use counts of the elements of one scale, by class; they give the intervals of indices.
// Source: section "Index" of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cpu/runtime/arena.h"
#include "cpu/runtime/simd.h"
#include "shared/trees/classes.h"
#include "shared/trees/redundancy.h"
#include "shared/trees/scales.h"
#include "shared/tools.h"

namespace mmp {

constexpr uint32_t kNoIndex = UINT32_MAX;

class ElementCounts {
public:
    // Holds at most `capacity` elements, and no more than the tools allow. The arena outlives it.
    ElementCounts(int scale, const Tools& tools, size_t capacity, Arena& arena);

    uint32_t size() const { return size_; }
    int scale() const { return scale_; }
    bool replaces() const { return replacement_; }
    uint32_t count(uint32_t index) const { return count_[index]; }
    uint8_t element_class(uint32_t index) const { return class_[index]; }

    bool occupied(int c) const { return class_size_[c] > 0; }
    uint32_t class_total(int c) const { return class_total_[c]; }
    // No element of the class has a larger count.
    uint32_t largest_count(int c) const { return largest_count_[c]; }

    // Adds an element, never used, to a class.
    void add(int c) {
        start(size_++, c);
    }

    // Makes the present elements permanent: they are never replaced.
    void keep_all() { start_ = hand_ = size(); }

    // Returns the index for the next element: the end, or in a full dictionary that of an element
    // that was never used, or kNoIndex if none is found.
    uint32_t place() {
        if (size() < limit_) return size();
        if (!replacement_ || start_ == limit_) return kNoIndex;
        for (int step = 0; step < kHandSteps; ++step) {
            const uint32_t index = hand_;
            hand_ = index + 1 < limit_ ? index + 1 : start_;
            if (count_[index] == 1) return index;
        }
        return kNoIndex;
    }

    // Calls visit(index) for elements that the next `count` calls of place() may return first.
    template <class Visit>
    MMP_INLINE void for_each_next(uint32_t count, const Visit& visit) const {
        if (size() < limit_ || !replacement_ || start_ == limit_) return;
        const uint32_t end = std::min(hand_ + count, limit_);
        for (uint32_t index = hand_; index < end; ++index)
            if (count_[index] == 1) visit(index);
    }

    // Replaces an element by a new one of class c, which was never used.
    void restart(uint32_t index, int c) {
        block_of(index) -= count_[index];
        class_total_[class_[index]] -= count_[index];
        class_size_[class_[index]] -= 1;
        start(index, c);
    }

    // Counts a use. Returns true when it halved the counts of the whole class.
    bool use(uint32_t index);

    // The sum of the counts of the elements of the class before this one.
    uint32_t cumulative(int c, uint32_t index) const;

    // Returns the element of the class whose interval contains the target, and that interval's
    // start.
    std::pair<uint32_t, uint32_t> find(int c, uint32_t target) const;

private:
    static constexpr uint32_t kBlock = 128;

    uint32_t& block_of(uint32_t index) {
        return block_total_[size_t{blocks_} * class_[index] + index / kBlock];
    }
    void start(uint32_t index, int c) {
        class_[index] = static_cast<uint8_t>(c);
        count_[index] = 1;
        block_of(index) += 1;
        class_total_[c] += 1;
        class_size_[c] += 1;
        largest_count_[c] = std::max(largest_count_[c], 1u);
    }
    void add_count(uint32_t index, int64_t amount);
    void move(uint32_t index, int c);
    void halve(int c);

    int scale_;
    bool classes_, replacement_;
    uint32_t increment_, limit_, blocks_;
    uint32_t size_ = 0;
    uint32_t start_ = 0, hand_ = 0;  // permanent elements; the next element that replacement tests
    uint8_t* class_;
    uint32_t* count_;
    uint32_t* block_total_;  // by class, then by block of elements
    std::array<uint32_t, kClasses> class_size_{}, class_total_{}, largest_count_{};
};

}  // namespace mmp
