#include "cpu/trees/copies.h"

#include <algorithm>
#include <cstring>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

// Factor of the squared difference of two samples at an edge, which exceeds the radius.
constexpr int kEdge = 4;

uint8_t smooth(int radius) {
    int gap = 0;
    while (gap < 255 && kEdge * (gap + 1) * (gap + 1) <= radius) ++gap;
    return static_cast<uint8_t>(gap);
}

MMP_INLINE Bytes16 gap(Bytes16 a, Bytes16 b) { return (a > b ? a : b) - (a > b ? b : a); }

}  // namespace

Copies::Copies(int height, int width, const Tools& tools)
    : height_(height),
      width_(width),
      displaced_blocks_(tools.displaced_blocks),
      smooth_(smooth(tools.redundancy_radius)),
      words_(1 + size_t(width + kFragmentSize - 1) / kFragmentSize),
      edges_(words_ * height) {}

bool Copies::add_area(int row, int column, const uint8_t* samples) {
    const int columns = std::min(kFragmentSize, width_ - column);
    const size_t before = column > 0;
    uint32_t any = 0;
    for (int y = row; y < std::min(row + kFragmentSize, height_); ++y) {
        const uint8_t* const line = samples + size_t(y) * width_ + column;
        uint8_t own[kFragmentSize + 1] = {}, above[kFragmentSize] = {};
        std::memcpy(own + 1, line, columns);
        std::memcpy(above, y ? line - width_ : line, columns);
        own[0] = *(line - before);
        Bytes16 here, left, up;
        std::memcpy(&left, own, sizeof left);
        std::memcpy(&here, own + 1, sizeof here);
        std::memcpy(&up, above, sizeof up);
        const Bytes16 down = gap(here, up), right = gap(here, left);
        const uint32_t bits =
            lane_bits((down > right ? down : right) > smooth_) & ((1u << columns) - 1);
        edges_[y * words_ + 1 + column / kFragmentSize] = static_cast<uint16_t>(bits);
        any |= bits;
    }
    if (!any) return false;
    newest_ = (newest_ + 1) % kAreaNumbers;
    if (areas_.size() < kMostAreas) areas_.emplace_back();
    areas_[newest_ % kMostAreas] = {row, column};
    return true;
}

int Copies::first(int start, int i, int side, int length) const {
    return std::clamp(start + (i + 1) * displaced_step(side, displaced_blocks_) - side, 0,
                      length - side);
}

std::pair<int, int> Copies::first_sample(int scale, uint32_t index) const {
    const auto [row, column] = areas_[number(index) % kMostAreas];
    const int height = scale_height(scale), width = scale_width(scale);
    const int across = kFragmentSize / displaced_step(width, displaced_blocks_);
    const int place = static_cast<int>(Copies::place(index));
    return {first(row, place / across, height, height_),
            first(column, place % across, width, width_)};
}

uint32_t Copies::Places::rank(uint32_t place) const {
    return static_cast<uint32_t>(std::lower_bound(&places_[0], &places_[count_], place) -
                                 &places_[0]);
}

Copies::Places Copies::places(int scale, uint32_t area) const {
    const auto [row, column] = areas_[(newest_ - area) % kAreaNumbers % kMostAreas];
    const int height = scale_height(scale), width = scale_width(scale);
    const int down = kFragmentSize / displaced_step(height, displaced_blocks_);
    const int across = kFragmentSize / displaced_step(width, displaced_blocks_);
    Places result;
    for (int i = 0; i < down; ++i) {
        const int top = first(row, i, height, height_);
        uint32_t bits = 0;  // of 32 columns, from that 16 before the area
        for (int y = top; y < top + height; ++y) {
            const uint16_t* words = &edges_[y * words_ + column / kFragmentSize];
            bits |= words[0] | uint32_t{words[1]} << kFragmentSize;
        }
        for (int j = 0; j < across; ++j) {
            const int before = first(column, j, width, width_) - column + kFragmentSize;
            result.places_[result.count_] = static_cast<uint8_t>(i * across + j);
            result.count_ += (bits >> before & ((1u << width) - 1)) != 0;
        }
    }
    return result;
}

}  // namespace mmp
