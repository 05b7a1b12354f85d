// Copies: leaves of trees among predicted blocks that repeat a displaced block of the decoded
// picture. Source: section "Copies" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "shared/tools.h"
#include "shared/trees/displaced.h"

namespace mmp {

// Copies share the number space of elements in Node::index: kCopy plus the number of an area,
// modulo kAreaNumbers, times kMostPlaces, plus the number of a place in the area.
constexpr uint32_t kCopy = 1u << 31;
constexpr uint32_t kMostPlaces = 1 << 8;  // most places of one area and scale
constexpr uint32_t kAreaNumbers = kCopy / kMostPlaces;
constexpr uint32_t kMostAreas = 1 << 16;  // number of areas that copies reach, the newest

inline bool is_copy(uint32_t index) { return index >= kCopy; }

class Copies {
public:
    static bool allowed(const Tools& tools) {
        return tools.displaced_blocks && tools.index_classes;
    }

    // Height and width of the padded picture.
    Copies(int height, int width, const Tools& tools)
        : height_(height), width_(width), displaced_blocks_(tools.displaced_blocks) {}

    // Whether a leaf of this scale can be a copy.
    bool possible(int scale) const { return !areas_.empty() && takes(scale); }
    bool takes(int scale) const {
        return takes_displaced(scale) && scale_height(scale) <= height_ &&
               scale_width(scale) <= width_;
    }
    // Number of areas that copies reach.
    uint32_t areas() const { return static_cast<uint32_t>(areas_.size()); }
    // Number of places in an area.
    uint32_t places(int scale) const {
        return static_cast<uint32_t>(kFragmentSize / down(scale)) * across(scale);
    }

    // Makes the 16x16 area at (row, column) available.
    void add_area(int row, int column) {
        newest_ = (newest_ + 1) % kAreaNumbers;
        if (areas_.size() < kMostAreas) areas_.emplace_back();
        areas_[newest_ % kMostAreas] = {row, column};
    }
    // Index of the copy at a place of an area; areas are counted back from the newest.
    uint32_t index(uint32_t area, uint32_t place) const {
        return kCopy | (newest_ - area) % kAreaNumbers * kMostPlaces | place;
    }
    uint32_t area(uint32_t index) const { return (newest_ - number(index)) % kAreaNumbers; }
    static uint32_t place(uint32_t index) { return index % kMostPlaces; }

    // Returns row and column of the first sample of a copy.
    std::pair<int, int> first_sample(int scale, uint32_t index) const {
        const auto [row, column] = areas_[number(index) % kMostAreas];
        const int i = static_cast<int>(place(index) / across(scale));
        const int j = static_cast<int>(place(index) % across(scale));
        const int height = scale_height(scale), width = scale_width(scale);
        return {std::clamp(row + (i + 1) * down(scale) - height, 0, height_ - height),
                std::clamp(column + (j + 1) * right(scale) - width, 0, width_ - width)};
    }

private:
    static uint32_t number(uint32_t index) { return (index & ~kCopy) / kMostPlaces; }
    int down(int scale) const { return displaced_step(scale_height(scale), displaced_blocks_); }
    int right(int scale) const { return displaced_step(scale_width(scale), displaced_blocks_); }
    uint32_t across(int scale) const {
        return static_cast<uint32_t>(kFragmentSize / right(scale));
    }

    int height_, width_, displaced_blocks_;
    uint32_t newest_ = kAreaNumbers - 1;      // number of the newest area
    std::vector<std::pair<int, int>> areas_;  // first row and column of each area; a ring
};

}  // namespace mmp
