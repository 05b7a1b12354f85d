// Use counts of the elements of one scale, grouped by class; they define the intervals of the
// entropy coder. Source: section "Index" of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

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
    // Holds at most `capacity` elements and at most as many as the tools allow. The arena must
    // outlive it.
    ElementCounts(int scale, const Tools& tools, size_t capacity, Arena& arena);

    uint32_t size() const { return size_; }
    int scale() const { return scale_; }
    bool replaces() const { return replacement_; }
    uint32_t count(uint32_t index) const { return count_[index]; }
    uint8_t element_class(uint32_t index) const { return class_[index]; }

    bool occupied(int c) const { return class_size_[c] > 0; }
    uint32_t class_total(int c) const { return class_total_[c]; }
    // Upper bound of the counts of the elements of class c.
    uint32_t largest_count(int c) const { return largest_count_[c]; }

    // Adds an element of class c that was never used.
    void add(int c) {
        if (size_ == count_.size()) add_block();
        begin(size_++, c);
    }

    // Makes all present elements permanent: replacement skips them.
    void keep_all() { start_ = hand_ = size(); }

    // Returns the index for the next element: the next free one or, in a full dictionary, the index
    // of an element that was never used; kNoIndex if kHandSteps tests find none.
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

    // Calls visit(index) for the elements that the next `count` calls of place() may return; a
    // prefetch hint.
    template <class Visit>
    MMP_INLINE void for_each_next(uint32_t count, const Visit& visit) const {
        if (size() < limit_ || !replacement_ || start_ == limit_) return;
        const uint32_t end = std::min(hand_ + count, limit_);
        for (uint32_t index = hand_; index < end; ++index)
            if (count_[index] == 1) visit(index);
    }

    // Replaces an element by a new one of class c that was never used.
    void restart(uint32_t index, int c) {
        class_size_[class_[index]] -= 1;
        add_to_totals(index, -count_[index]);
        begin(index, c);
    }

    // Counts a use of the element. Returns true if this halved the counts of its whole class.
    bool use(uint32_t index);

    // Sum of the counts of the elements of class c with a lower index.
    uint32_t cumulative(int c, uint32_t index) const;

    // Returns the element of class c whose interval contains `target`, and the start of the
    // interval.
    std::pair<uint32_t, uint32_t> find(int c, uint32_t target) const;

private:
    static constexpr uint32_t kBlock = 128;        // number of elements
    static constexpr uint32_t kGroup = 16 * kBlock;
    static constexpr uint32_t kPiece = 16;  // elements of a block that one step sums

    // Adds to all partial sums that include the element; a negative amount wraps modulo 2^32.
    void add_to_totals(uint32_t index, uint32_t amount) {
        const uint32_t c = class_[index];
        class_total_[c] += amount;
        group_total_[groups_ * c + index / kGroup] += amount;
        block_total_[index / kBlock * classes_ + c] += amount;
    }
    void begin(uint32_t index, int c) {
        class_[index] = static_cast<uint8_t>(c);
        count_[index] = 1;
        class_size_[c] += 1;
        add_to_totals(index, 1);
        largest_count_[c] = std::max(largest_count_[c], 1u);
    }
    void add_block() {
        class_.resize(count_.size() + kBlock);
        count_.resize(class_.size());
        block_total_.resize(block_total_.size() + classes_);
    }
    void add_count(uint32_t index, int64_t amount);
    void move(uint32_t index, int c);
    void halve(int c);

    int scale_;
    uint32_t classes_;  // number of classes
    bool replacement_;
    uint32_t increment_, limit_, groups_;
    uint32_t size_ = 0;
    uint32_t start_ = 0, hand_ = 0;  // permanent elements; next element replacement tests
    std::vector<uint8_t> class_;  // by element; classes and counts are those of whole blocks
    std::vector<uint32_t> count_;
    std::vector<uint32_t> block_total_;  // sums of counts by block of elements, then by class
    uint32_t* group_total_;  // sums of counts by class, then by group of elements
    std::array<uint32_t, kClasses> class_size_{}, class_total_{}, largest_count_{};
};

}  // namespace mmp
