// The use counts of the elements of one scale, by class; they give the intervals of indices.
// Source: section "Index" of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <array>
#include <utility>
#include <vector>

#include "shared/trees/classes.h"
#include "shared/trees/scales.h"
#include "shared/tools.h"

namespace mmp {

constexpr uint32_t kNoIndex = UINT32_MAX;

class ElementCounts {
public:
    ElementCounts(int scale, const Tools& tools);

    uint32_t size() const { return static_cast<uint32_t>(count_.size()); }
    int scale() const { return scale_; }
    bool replaces() const { return replacement_; }
    uint32_t count(uint32_t index) const { return count_[index]; }
    uint8_t element_class(uint32_t index) const { return class_[index]; }

    bool occupied(int c) const { return class_size_[c] > 0; }
    uint32_t class_total(int c) const { return class_total_[c]; }
    // No element of the class has a larger count.
    uint32_t largest_count(int c) const { return largest_count_[c]; }

    // Adds an element, never used, to a class.
    void add(int c);

    // Makes the present elements permanent: they are never replaced.
    void keep_all() { start_ = hand_ = size(); }

    // Returns the index for the next element: the end, or in a full dictionary that of an element
    // that was never used, or kNoIndex if none is found.
    uint32_t place();

    // Replaces an element by a new one of class c, which was never used.
    void restart(uint32_t index, int c);

    // Counts a use. Returns true when it halved the counts of the whole class.
    bool use(uint32_t index);

    // The sum of the counts of the elements of the class before this one.
    uint32_t cumulative(int c, uint32_t index) const;

    // Returns the element of the class whose interval contains the target, and that interval's
    // start.
    std::pair<uint32_t, uint32_t> find(int c, uint32_t target) const;

private:
    static constexpr uint32_t kBlock = 128;

    void add_count(uint32_t index, int64_t amount);
    void move(uint32_t index, int c);
    void halve(int c);

    int scale_;
    bool classes_, replacement_;
    uint32_t increment_, limit_, blocks_;
    uint32_t start_ = 0, hand_ = 0;  // permanent elements; the next element that replacement tests
    std::vector<uint8_t> class_;
    std::vector<uint32_t> count_;
    std::vector<uint32_t> block_total_;  // by class, then by block of elements
    std::array<uint32_t, kClasses> class_size_{}, class_total_{}, largest_count_{};
};

}  // namespace mmp
