// Earlier pixels whose surroundings look alike. Source: section "Two values", "Places that look
// alike", of docs/format/format.md; after P. Howard, "Text image compression using soft pattern
// matching", 1997.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "cpu/lossless/two_values/bit_rows.h"
#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

inline constexpr uint64_t kFactors[12] = {
    0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93,
    0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3,
    0x1D8E4E27C47D124F, 0xEB44ACCAB455D165, 0x2545F4914F6CDD1D, 0xBF58476D1CE4E5B9};

// Returns the binary logarithm of the number of lines of a model.
inline int line_bits_of(int height, int width) {
    return std::clamp(int(std::bit_width(uint64_t(height) * uint64_t(width))) - 5, 6, 17);
}

struct Place {
    int32_t row, column, distance;
};

// Places in ascending order of their distances.
template <int Most>
struct PlaceList {
    int count = 0;
    Place places[Most];
};

// The pixels around a pixel that distances compare: two rows of the window in a word, and the near
// ones, which count twice, in another.
class Window {
public:
    MMP_INLINE Window(const uint8_t* row, int64_t stride, int column) {
        const uint64_t first = bits(row, column - kSide, kSide);
        words_[0] = first;
        near_ = first >> (kSide - kNear);
#pragma GCC unroll 12
        for (int up = 1; up <= kSide; ++up) {
            const uint64_t found = bits(row - up * stride, column - kSide, 2 * kSide + 1);
            words_[(up + 1) / 2] = up % 2 ? found : words_[(up + 1) / 2] | found << 32;
            if (up <= kNear)
                near_ |= (found >> (kSide - kNear) & ((1 << (2 * kNear + 1)) - 1))
                         << (kNear + (up - 1) * (2 * kNear + 1));
        }
    }

    MMP_INLINE int distance(const Window& other) const {
        int sum = std::popcount(near_ ^ other.near_);
#pragma GCC unroll 8
        for (int i = 0; i < kWords; ++i) sum += std::popcount(words_[i] ^ other.words_[i]);
        return sum;
    }

private:
    static constexpr int kSide = 12, kNear = 4, kWords = 7;
    uint64_t words_[kWords], near_;
};

// Finds the places of the pixels of a plane, row by row.
template <int Most>
class Places {
public:
    static constexpr int kKeys = 3;
    using List = PlaceList<Most>;
    struct Lines {
        uint32_t of[kKeys];
    };

    Places(const BitRows& rows, int height, int width)
        : rows_(rows),
          width_(width),
          shift_(63 - line_bits_of(height, width)),
          entries_((size_t{kKeys} << (64 - shift_)) * kEntries),
          above_(width),
          here_(width),
          entering_(kRowsBehind) {}

    // Enters the pixels of an earlier row, and begins a row.
    MMP_INLINE void begin_row(int row) {
        std::swap(above_, here_);
        std::vector<Entering>& earlier = entering_[row % kRowsBehind];
        constexpr size_t kAhead = 8;
        for (size_t i = 0; i < earlier.size(); ++i) {
            if (i + kAhead < earlier.size())
                for (int key = 0; key < kKeys; ++key)
                    __builtin_prefetch(line(key, earlier[i + kAhead].lines.of[key]));
            for (int key = 0; key < kKeys; ++key) {
                Entry* line = this->line(key, earlier[i].lines.of[key]);
                for (int k = kEntries - 1; k > 0; --k) line[k] = line[k - 1];
                line[0] = {uint32_t(row - kRowsBehind + 1), uint32_t(earlier[i].column)};
            }
        }
        earlier.clear();
        along.count = 0;
    }

    // Returns the lines of the keys of a pixel, and fetches them.
    MMP_INLINE Lines find_lines(const uint8_t* row, int64_t stride, int column) const {
        const auto sum = [&](int side, int rows, int first) __attribute__((always_inline)) {
            uint64_t found = bits(row, column - side, side - 1) * kFactors[first];
#pragma GCC unroll 8
            for (int up = 1; up <= rows; ++up)
                found += bits(row - up * stride, column - side, kWide[side]) *
                         kFactors[first + up];
            return found;
        };
        const uint64_t keys[kKeys] = {sum(5, 3, 2) * kFactors[6], sum(8, 6, 4) * kFactors[1],
                                      sum(17, 8, 3) * kFactors[0]};
        Lines lines;
        for (int key = 0; key < kKeys; ++key) {
            lines.of[key] = uint32_t(keys[key] >> shift_);
            __builtin_prefetch(line(key, lines.of[key]));
        }
        return lines;
    }

    // Finds the list of a pixel that is mixed. `near` says that no group was whole since the last
    // mixed pixel.
    MMP_INLINE void find(int row, int column, const Lines& lines, bool near) {
        entering_[row % kRowsBehind].push_back({column, lines});
        const int64_t stride = rows_.stride();
        const Window own(rows_.row(row), stride, column);
        Place candidates[kMostCandidates];
        int count = 0;
        const auto add = [&](int32_t at_row, int32_t at_column) __attribute__((always_inline)) {
            if (uint32_t(at_column) < uint32_t(width_))
                candidates[count++] = {at_row, at_column, 0};
        };
        for (int i = 0; i < along.count; ++i) add(along.places[i].row, along.places[i].column + 1);
        const Place* up = above_.places(column);
        for (int i = 0; i < above_.counts[column]; ++i) add(up[i].row + 1, up[i].column);
        if (above_.counts[column + 1]) {
            const Place& diagonal = *above_.places(column + 1);
            add(diagonal.row + 1, diagonal.column - 1);
        }
        if (Most >= 4 || !near || !along.count || along.places[0].distance)
            for (int key = kKeys - 1; key >= 0; --key) {
                const Entry* line = this->line(key, lines.of[key]);
                for (int k = 0; k < kEntries && line[k].row; ++k)
                    add(int32_t(line[k].row - 1), int32_t(line[k].column));
            }
        List found;
        for (int i = 0; i < count; ++i) {
            Place one = candidates[i];
            bool again = false;
            for (int k = 0; k < i; ++k)
                again |= candidates[k].row == one.row && candidates[k].column == one.column;
            if (again) continue;
            one.distance = own.distance(Window(rows_.row(one.row), stride, one.column));
            insert(found, one);
        }
        keep(column, found);
    }

    // Moves the places of the last pixel along a certain pixel; its list is those that stay in the
    // plane, or else those of the pixel above.
    MMP_INLINE void follow(int column) {
        List found;
        for (int i = 0; i < along.count; ++i)
            if (along.places[i].column + 1 < width_) {
                found.places[found.count] = along.places[i];
                ++found.places[found.count++].column;
            }
        if (!found.count) {
            found.count = above_.counts[column];
            for (int i = 0; i < found.count; ++i) {
                found.places[i] = above_.places(column)[i];
                ++found.places[i].row;
            }
        }
        keep(column, found);
    }

    // Moves the places of the last pixel along pixels that their group gives.
    MMP_INLINE void skip(int column, int pixels) {
        memset(&here_.counts[column], 0, pixels);
        const int farthest = width_ + BitRows::kBeside / 2;
        for (int i = 0; i < along.count; ++i)
            along.places[i].column = std::min(along.places[i].column + pixels, farthest);
    }

    List along;  // of the pixel before, whose places may have left the plane

private:
    static constexpr int kRowsBehind = 6;
    static constexpr int kEntries = Most == 1 ? 1 : Most == 3 ? 2 : 4;
    static constexpr int kMostCandidates = 2 * Most + 1 + kKeys * kEntries;
    static constexpr int kWide[18] = {0, 0, 0, 0, 0, 10, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 27};
    struct Entry {
        uint32_t row, column;  // the row is one more than that of the pixel, and 0 if there is none
    };
    // The lists of the pixels of a row, and an empty one behind them.
    struct Row {
        explicit Row(int width) : counts(width + 1), all(size_t(width) * Most) {}
        Place* places(int column) { return &all[size_t(column) * Most]; }

        std::vector<uint8_t> counts;
        std::vector<Place> all;
    };
    struct Entering {
        int32_t column;
        Lines lines;
    };

    MMP_INLINE Entry* line(int key, uint32_t number) const {
        return &entries_[((size_t(key) << (64 - shift_)) + number) * kEntries];
    }

    MMP_INLINE void keep(int column, const List& list) {
        here_.counts[column] = uint8_t(list.count);
        Place* to = here_.places(column);
        for (int i = 0; i < Most; ++i) to[i] = list.places[i];
        along = list;
    }

    // Keeps the list in ascending order; a later candidate goes behind equal ones.
    static MMP_INLINE void insert(List& list, const Place& one) {
        if (list.count == Most && one.distance >= list.places[Most - 1].distance) return;
        int at = list.count < Most ? list.count++ : Most - 1;
        for (; at > 0 && list.places[at - 1].distance > one.distance; --at)
            list.places[at] = list.places[at - 1];
        list.places[at] = one;
    }

    const BitRows& rows_;
    const int width_, shift_;
    ZeroedLines<Entry> entries_;
    Row above_, here_;
    std::vector<std::vector<Entering>> entering_;
};

}  // namespace mmp
