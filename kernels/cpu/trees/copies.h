// Copies: leaves that repeat a block of the decoded picture.
// Source: section "Copies" of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <array>
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
    Copies(int height, int width, const Tools& tools);

    // Whether a leaf of this scale can be a copy.
    bool possible(int scale) const { return !areas_.empty() && takes(scale); }
    bool takes(int scale) const {
        return takes_displaced(scale) && scale_height(scale) <= height_ &&
               scale_width(scale) <= width_;
    }
    // Number of areas that copies reach.
    uint32_t areas() const { return static_cast<uint32_t>(areas_.size()); }

    // Finds the edges of the 16x16 area at (row, column), whose samples are `width` apart in
    // `samples`. Returns whether it has any: then copies can end in it.
    bool add_area(int row, int column, const uint8_t* samples);

    // Number of the area in which a copy ends, counted back from the newest.
    uint32_t area(uint32_t index) const { return (newest_ - number(index)) % kAreaNumbers; }

    // The places of a scale in an area that have edges, in order.
    class Places {
    public:
        uint32_t count() const { return count_; }
        uint32_t operator[](uint32_t i) const { return places_[i]; }
        uint32_t rank(uint32_t place) const;

    private:
        friend Copies;
        uint32_t count_ = 0;
        std::array<uint8_t, kMostPlaces> places_;
    };
    Places places(int scale, uint32_t area) const;

    uint32_t index(uint32_t area, uint32_t place) const {
        return kCopy | (newest_ - area) % kAreaNumbers * kMostPlaces | place;
    }
    static uint32_t place(uint32_t index) { return index % kMostPlaces; }

    // Returns row and column of the first sample of a copy.
    std::pair<int, int> first_sample(int scale, uint32_t index) const;

private:
    static uint32_t number(uint32_t index) { return (index & ~kCopy) / kMostPlaces; }
    // Row or column of the first sample of place i along a side, from that of the area.
    int first(int start, int i, int side, int length) const;

    const int height_, width_, displaced_blocks_;
    const uint8_t smooth_;  // largest difference of two samples that is no edge
    uint32_t newest_ = kAreaNumbers - 1;      // number of the newest area
    std::vector<std::pair<int, int>> areas_;  // first row and column of each area; a ring
    // One bit for each sample, set at edges; 16 samples of a row are a word. A row of words begins
    // with a zero.
    size_t words_;
    std::vector<uint16_t> edges_;
};

}  // namespace mmp
