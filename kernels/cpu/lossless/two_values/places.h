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
    static constexpr int kMost = Most;
    int count = 0;
    Place places[Most];
};

// The pixels of the rows around a pixel: bits(-k, -17, 33).
struct RowsAround {
    static constexpr int kRows = 11, kLeft = 17;
    uint64_t rows[kRows];

    MMP_INLINE RowsAround(const uint8_t* row, int64_t stride, int column) {
        const BitsFrom from(row, stride, column - kLeft);
#pragma GCC unroll 11
        for (int up = 0; up < kRows; ++up) rows[up] = from.of(-up, 33);
    }
    // Returns `count` pixels of a row from a column on, relative to the pixel.
    MMP_INLINE uint64_t of(int up, int column, int count) const {
        return rows[up] >> (column + kLeft) & ((uint64_t{1} << count) - 1);
    }
};

// The pixels around a pixel that distances compare: columns -12 to 12, four in a word.
class Window {
public:
    MMP_INLINE explicit Window(const uint16_t* column)  {
        for (int i = 0; i < kWords; ++i) words_[i] = word(column - kSide, i);
    }

    // Returns how many pixels differ from those around another pixel; near ones count twice.
    MMP_INLINE int distance(const uint16_t* column) const {
        uint64_t differing[kWords];
#pragma GCC unroll 7
        for (int i = 0; i < kWords; ++i)
            differing[i] = (word(column - kSide, i) ^ words_[i]) & mask(i);
        // The second count of near pixels takes bits that a word has beside those of its columns.
        differing[6] |= (differing[4] & kNear) << 48;
        int sum = std::popcount((differing[2] & kNear) | (differing[3] & kNear) << 8);
#pragma GCC unroll 7
        for (int i = 0; i < kWords; ++i) sum += std::popcount(differing[i]);
        return sum;
    }

private:
    static constexpr int kSide = 12, kWords = 7;
    static constexpr uint64_t kNear = 0x001F001F001F001F;

    static MMP_INLINE uint64_t word(const uint16_t* first, int i) {
        uint64_t found = 0;
        memcpy(&found, first + 4 * i, i < kWords - 1 ? 8 : 2);
        return found;
    }
    // The pixel itself and those right of it are not decoded.
    static constexpr uint64_t mask(int i) {
        return i < 3 ? 0x1FFF1FFF1FFF1FFF : i < 6 ? 0x1FFE1FFE1FFE1FFE : 0x1FFE;
    }

    uint64_t words_[kWords];
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

    Places(const BitColumns& columns, int most_width, int line_bits)
        : columns_(columns),
          shift_(63 - line_bits),
          entries_((size_t{kKeys} << (64 - shift_)) * kEntries, true),
          above_(most_width),
          here_(most_width),
          entering_(kRowsBehind) {}

    // Begins a plane. Pixels beyond its width have no places.
    void begin(int width) {
        width_ = width;
        for (Row* row : {&above_, &here_})
            std::fill(row->counts.begin() + width, row->counts.end(), 0);
    }

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
    MMP_INLINE Lines find_lines(const RowsAround& around) const {
        const auto sum = [&](int left, int columns, int rows, int first) MMP_INLINED {
            uint64_t found = around.of(0, -left, left - 1) * kFactors[first];
#pragma GCC unroll 8
            for (int up = 1; up <= rows; ++up)
                found += around.of(up, -left, columns) * kFactors[first + up];
            return found;
        };
        const uint64_t keys[kKeys] = {sum(5, 10, 3, 2) * kFactors[6],
                                      sum(8, 16, 6, 4) * kFactors[1],
                                      sum(17, 27, 8, 3) * kFactors[0]};
        Lines lines;
        for (int key = 0; key < kKeys; ++key) {
            lines.of[key] = uint32_t(keys[key] >> shift_);
            __builtin_prefetch(line(key, lines.of[key]));
        }
        return lines;
    }

    // Fetches the windows of what is in the lines.
    MMP_INLINE void fetch_windows(const Lines& lines) const {
        for (int key = 0; key < kKeys; ++key) {
            const Entry* line = this->line(key, lines.of[key]);
            for (int k = 0; k < kEntries; ++k) {
                const uint16_t* window = columns_.at(int32_t(line[k].row) - 1, line[k].column);
                __builtin_prefetch(window - 12);
                __builtin_prefetch(window + 12);
            }
        }
    }

    // Finds the list of a pixel that is mixed. `near` says that no group was whole since the last
    // mixed pixel.
    MMP_INLINE void find(int row, int column, const Lines& lines, bool near) {
        entering_[row % kRowsBehind].push_back({column, lines});
        Candidates candidates;
        const auto add = [&](bool there, int32_t at_row, int32_t at_column) MMP_INLINED {
            candidates.add(there & (uint32_t(at_column) < uint32_t(width_)), at_row, at_column);
        };
        const Place* up = above_.places(column);
        const int above = above_.counts[column];
        for (int i = 0; i < Most; ++i)
            add(i < along.count, along.places[i].row, along.places[i].column + 1);
        for (int i = 0; i < Most; ++i) add(i < above, up[i].row + 1, up[i].column);
        const Place& diagonal = *above_.places(column + 1);
        add(above_.counts[column + 1] > 0, diagonal.row + 1, diagonal.column - 1);
        if (Most >= 4 || !near || !along.count || along.places[0].distance)
            for (int key = kKeys - 1; key >= 0; --key) {
                const Entry* line = this->line(key, lines.of[key]);
                for (int k = 0; k < kEntries; ++k)
                    add(line[k].row, int32_t(line[k].row - 1), int32_t(line[k].column));
            }
        const Window own(columns_.at(row, column));
        for (int i = 0; i < candidates.count; ++i)
            candidates.rank(
                i, own.distance(columns_.at(candidates.rows[i], candidates.columns[i])));
        along.count = 0;
        Place* here = here_.places(column);
        for (int i = 0; i < Most; ++i) {
            const int32_t rank = candidates.least();
            const int at = rank & Candidates::kNumbers;
            const Place found{candidates.rows[at], candidates.columns[at],
                              rank / (Candidates::kNumbers + 1)};
            here[i] = along.places[i] = found;
            along.count += rank != Candidates::kNone;
            if (i < Most - 1) candidates.drop(found.row, found.column);
        }
        here_.counts[column] = uint8_t(along.count);
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

    List along{};  // of the pixel before, whose places may have left the plane

private:
    static constexpr int kRowsBehind = 6, kFarthest = 1 << 16;
    static constexpr int kEntries = Most == 1 ? 1 : Most == 3 ? 2 : 4;
    static constexpr int kMostCandidates = 2 * Most + 1 + kKeys * kEntries;

    // Candidates in their order. A rank has the distance, then the number of the candidate.
    struct Candidates {
        static constexpr int kLanes = (kMostCandidates + 7) / 8 * 8, kNumbers = 31;
        static constexpr int32_t kNone = kFarthest * (kNumbers + 1);

        MMP_INLINE Candidates() {
            if (Most > 1) std::fill_n(ranks, kLanes, int32_t{kNone});
        }
        MMP_INLINE void add(bool there, int32_t row, int32_t column) {
            rows[count] = row;
            columns[count] = column;
            count += there;
        }
        MMP_INLINE void rank(int number, int distance) {
            const int32_t rank = distance * (kNumbers + 1) + number;
            if constexpr (Most == 1) {
                only = std::min(only, rank);
            } else {
                ranks[number] = rank;
            }
        }
        MMP_INLINE int32_t least() const {
            if constexpr (Most == 1) return only;
            Ints8 least = loaded<Ints8>(ranks);
            for (int i = 8; i < kLanes; i += 8) {
                const Ints8 others = loaded<Ints8>(ranks + i);
                least = others < least ? others : least;
            }
            Ints4 low, high;
            memcpy(&low, &least, sizeof low);
            memcpy(&high, reinterpret_cast<const char*>(&least) + sizeof low, sizeof high);
            low = high < low ? high : low;
            return std::min(std::min(low[0], low[1]), std::min(low[2], low[3]));
        }
        // Drops all candidates of a place.
        MMP_INLINE void drop(int32_t row, int32_t column) {
            for (int i = 0; i < kLanes; i += 8) {
                const Ints8 same = (loaded<Ints8>(rows + i) == row) &
                                   (loaded<Ints8>(columns + i) == column);
                store(ranks + i, same ? Ints8{} + kNone : loaded<Ints8>(ranks + i));
            }
        }

        int count = 0, only = kNone;
        alignas(32) int32_t rows[kLanes + 1], columns[kLanes + 1], ranks[kLanes];
    };
    struct Entry {
        uint32_t row, column;  // the row is one more than that of the pixel, and 0 if there is none
    };
    // The lists of the pixels of a row, and an empty one behind them.
    struct Row {
        explicit Row(int width) : counts(width + 1), all(size_t(width + 1) * Most) {}
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

    const BitColumns& columns_;
    const int shift_;
    int width_ = 0;
    ZeroedLines<Entry> entries_;
    Row above_, here_;
    std::vector<std::vector<Entering>> entering_;
};

}  // namespace mmp
