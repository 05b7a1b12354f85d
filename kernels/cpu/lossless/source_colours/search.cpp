#include "cpu/lossless/source_colours/search.h"

#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "cpu/lossless/source_colours/chroma_of_pixel.h"
#include "cpu/runtime/watch.h"

namespace mmp {

namespace {

using Kind = SourceColours::Kind;
using Pixel = SourceColours::Pixel;

constexpr int kRows = SourceColours::kRows, kColumns = SourceColours::kColumns;
constexpr int kPasses = 8;  // along lines of both axes
constexpr int kFewChanges = 4096;  // the last pass changes at most one of 4096 nodes
constexpr int kSweeps = 2;  // that mend pixels of which a colour is clipped
constexpr int kPhases = kPasses + 2;  // of a search: start, passes, planes
constexpr int kTasks = 64;
constexpr double kPause = 0.03;  // seconds between two calls of the callback
constexpr int kLookNodes = 1024;  // nodes of a line between two looks at the callback
// Chromas that a search for corrections of clipped pixels may look at: for each pixel of the
// picture, of which photographs need up to 20, and for a picture of any size. With more, the search
// gives up.
constexpr int64_t kPixelSteps = 64, kLeastSteps = 1 << 22;
constexpr int64_t kAtOnce = 1 << 14;  // steps of a thread between two additions to the sum
constexpr int kWindow = 32, kWindows = 3;  // side of the parts that choose the colours; how many a row
constexpr int kChromaBits = 3, kCorrectionBits = 12;  // of a place of chroma, about
constexpr int kGood = 2;  // colours that need half of the bits of full chroma are taken at once
// Inverse of the triangle filter, on means of two pixels, in 1/1024.
constexpr int kInverse[5] = {1446, -248, 43, -7, 1};

struct Picture {
    const uint16_t* samples;  // planes of green, red, blue
    int64_t plane, stride;
    int height, width;

    Pixel pixel(int row, int column) const {
        const uint16_t* at = samples + row * stride + column;
        return {at[plane], at[0], at[2 * plane]};
    }
    Picture part(int row, int column, int rows, int columns) const {
        return {samples + row * stride + column, plane, stride, rows, columns};
    }
};

// Changes of two nodes: all pairs of -Side to Side, and zeros up to a whole number of vectors.
template <int Side>
struct Changes {
    static constexpr int kStates = 2 * Side + 1, kLanes = (kStates * kStates + 15) / 16 * 16;
    int32_t first[kLanes] = {}, second[kLanes] = {};

    constexpr Changes() {
        for (int i = 0; i < kStates * kStates; ++i)
            first[i] = i / kStates - Side, second[i] = i % kStates - Side;
    }
};
template <int Side>
constexpr Changes<Side> kChanges;

// The interpolated chroma of a pixel less the least that it may be, and what nodes add to it.
struct Bound {
    int32_t over, by_first, by_second;
};

// Adds squares of how far bounds are exceeded; `room` is between the least and the most.
MMP_SIMD_LEVELS void add_squares(int32_t* costs, const int32_t* first, const int32_t* second,
                                 int lanes, const Bound* bounds, int count, int32_t room) {
    for (int k = 0; k < count; ++k)
        for (int i = 0; i < lanes; ++i) {
            const int32_t over =
                bounds[k].over + first[i] * bounds[k].by_first + second[i] * bounds[k].by_second;
            const int32_t off = std::max(std::max(-over, over - room), 0);
            costs[i] += off * off;
        }
}

// Searches chroma by which luma gives all pixels.
class Search {
public:
    Search(const SourceColours& colours, const Picture& picture, ThreadTeam& team, Watch& watch)
        : colours_(colours),
          picture_(picture),
          height_(picture.height),
          width_(picture.width),
          rows_(colours.count(kRows, height_)),
          columns_(colours.count(kColumns, width_)),
          team_(team),
          watch_(watch) {
        start();
        watch_.advance(1);
    }

    // Whether at most one of `few` pixels that are not clipped has no luma and chroma; 0 allows
    // none.
    bool fits(int few) const {
        int64_t clipped = 0;
        for (int row = 0; row < height_; ++row)
            for (int column = 0; column < width_; ++column)
                clipped += is_clipped(picture_.pixel(row, column));
        const int64_t all = int64_t{height_} * width_ - clipped;
        return all - std::count(known_.begin(), known_.end(), 1) <= (few ? all / few : 0);
    }

    // About what chroma costs.
    int64_t bits() const {
        return kChromaBits * int64_t{rows_} * columns_ + kCorrectionBits * wrong();
    }

    // Pixels without a luma.
    int64_t wrong() const {
        std::vector<int64_t> counts(kTasks);
        share(height_, [&](int task, int row) {
            for (int column = 0; column < width_; ++column)
                counts[task] += gap_at(row, column) > 0;
        });
        int64_t sum = 0;
        for (int64_t count : counts) sum += count;
        return sum;
    }

    void improve() {
        if (!colours_.any_halved()) return;
        for (int pass = 0; pass < kPasses; ++pass) {
            const int axis = pass & 1 ? kRows : kColumns;
            if (!colours_.halved[axis]) continue;
            const bool both = colours_.halved[1 - axis];
            const int64_t changes = both ? solve_lines<2>(axis) : solve_lines<4>(axis);
            watch_.advance(1);
            if (changes * kFewChanges <= int64_t{rows_} * columns_) break;
        }
        for (int sweep = 0; sweep < kSweeps && mend(); ++sweep) {}
    }

    // The planes, with corrections; none if a pixel has no chroma, or if the search takes too many
    // steps. The chroma of each pixel by itself is lost.
    std::optional<SourcePlanes> planes() {
        if (!correct()) return {};
        SourcePlanes found{colours_, width_, {}, {}, {}};
        found.luma.resize(size_t(height_) * width_);
        for (int k = 0; k < 2; ++k) {
            const std::vector<int32_t>& from = colours_.any_halved() ? chroma_[k] : own_[k];
            found.chroma[k].assign(from.begin(), from.end());
        }
        for (int row = 0; row < height_; ++row) {
            watch_.look();
            int before = row ? found.luma[int64_t{row - 1} * width_] : 128;
            for (int column = 0; column < width_; ++column) {
                const int64_t place = int64_t{row} * width_ + column;
                const int own[2] = {own_[0][place], own_[1][place]};
                const Lumas lumas = lumas_of(colours_, picture_.pixel(row, column), {own[0], own[1]});
                before = std::clamp(before, lumas.least, lumas.most);
                found.luma[place] = uint16_t(before);
                if (!colours_.any_halved()) continue;
                const Chroma given = chroma_at(row, column);
                const int differences[2] = {own[0] - given.first, own[1] - given.second};
                for (int k = 0; k < 2; ++k)
                    if (differences[k]) found.corrections[k].push_back({place, differences[k]});
            }
        }
        return found;
    }

private:
    static constexpr int kGrow = 3;  // nodes beside a wrong one that are searched again

    struct Span {
        int from, to;
    };

    template <class Work>
    void share(int count, const Work& work) const {
        team_.run(kTasks, [&](uint32_t task) {
            const int64_t from = int64_t{count} * task / kTasks;
            const int64_t to = int64_t{count} * (task + 1) / kTasks;
            for (int64_t i = from; i < to; ++i) {
                watch_.look();
                work(int(task), int(i));
            }
        });
    }

    ChromaPlane<int32_t> plane(int k) const { return {colours_, chroma_[k].data(), columns_}; }
    Chroma chroma_at(int row, int column) const {
        return {plane(0).at(row, column), plane(1).at(row, column)};
    }
    int gap_at(int row, int column) const {
        return lumas_of(colours_, picture_.pixel(row, column), chroma_at(row, column)).gap();
    }

    // Chroma of each pixel by itself, then of the nodes.
    void start() {
        const int64_t size = int64_t{height_} * width_;
        for (auto& plane : own_) plane.resize(size);
        known_.resize(size);
        share(height_, [&](int, int row) {
            Chroma before{-1, 0};
            for (int column = 0; column < width_; ++column) {
                const Pixel pixel = picture_.pixel(row, column);
                const bool clipped = is_clipped(pixel);
                Chroma estimate = estimated(colours_.kind, pixel);
                // Clipped colours have many: that of the pixel to the left, if it can be.
                if (clipped && before.first >= 0 && !lumas_of(colours_, pixel, before).gap())
                    estimate = before;
                before = estimate;
                if (lumas_of(colours_, pixel, estimate).gap())
                    before = nearest(colours_, pixel, estimate, kReaches[0]);
                const int64_t place = int64_t{row} * width_ + column;
                own_[0][place] = before.first, own_[1][place] = before.second;
                known_[place] = !clipped && !lumas_of(colours_, pixel, before).gap();
            }
        });
        for (int k = 0; k < 2; ++k)
            chroma_[k] = at_nodes(kRows, at_nodes(kColumns, own_[k], height_, width_), height_,
                                  columns_);
    }

    // Values of nodes along an axis, from those of all pixels.
    std::vector<int32_t> at_nodes(int axis, const std::vector<int32_t>& from, int height,
                                  int width) const {
        if (!colours_.halved[axis]) return from;
        const int size = axis == kColumns ? width : height, count = colours_.count(axis, size);
        const int lines = axis == kColumns ? height : width, phase = colours_.phase[axis];
        const int64_t step = axis == kColumns ? 1 : width, line_step = axis == kColumns ? width : 1;
        const int64_t to_line = axis == kColumns ? count : 1;
        std::vector<int32_t> to(int64_t{count} * lines);
        share(lines, [&](int, int line) {
            const auto given = [&](int x) {
                return from[line * line_step + std::clamp(x - phase, 0, size - 1) * step];
            };
            const auto two = [&](int node) { return given(2 * node) + given(2 * node + 1); };
            for (int node = -1; node < count - 1; ++node) {
                int value = given(2 * node);
                if (colours_.kind == Kind::kJpeg) {
                    int sum = kInverse[0] * two(node) + 1024;
                    for (int i = 1; i < 5; ++i) sum += kInverse[i] * (two(node - i) + two(node + i));
                    value = std::clamp(sum >> 11, 0, 255);
                }
                to[line * to_line + (node + 1) * step] = value;
            }
        });
        return to;
    }

    // Gives each pixel the chroma that it is corrected to; returns false if one has none, or if that
    // takes too many steps. Threads change no result, as one sum counts the steps of all.
    bool correct() {
        const int64_t most = kLeastSteps + kPixelSteps * height_ * width_;
        std::atomic<int64_t> sum{0};
        std::atomic<bool> failed{false};
        share(height_, [&](int, int row) {
            int64_t steps = 0;
            for (int column = 0; column < width_ && !failed; ++column) {
                const int64_t place = int64_t{row} * width_ + column;
                const Pixel pixel = picture_.pixel(row, column);
                const Chroma given = chroma_at(row, column);
                Chroma chroma{own_[0][place], own_[1][place]};
                if (!known_[place]) chroma = nearest(colours_, pixel, given, steps);
                own_[0][place] = chroma.first, own_[1][place] = chroma.second;
                if (lumas_of(colours_, pixel, chroma).gap() || is_far(given, chroma)) failed = true;
                if (steps < kAtOnce && column < width_ - 1) continue;
                if (sum += steps; sum > most) failed = true;
                steps = 0;
                watch_.look();
            }
        });
        return !failed;
    }

    // The pixels that read a node.
    Span span(int axis, int node) const {
        const int size = axis == kColumns ? width_ : height_;
        if (!colours_.halved[axis]) return {node, node + 1};
        const int first = 2 * node - 3 - colours_.phase[axis];
        const int last = first + (colours_.kind == Kind::kJpeg ? 3 : 2);
        return {std::max(first, 0), std::min(last + 1, size)};
    }
    int32_t& node(int k, int axis, int line, int along) {
        return axis == kColumns ? chroma_[k][int64_t{line} * columns_ + along]
                                : chroma_[k][int64_t{along} * columns_ + line];
    }

    // Marks pixels whose interpolated chroma is wrong.
    void mark(int k, Span rows, Span columns) {
        const ChromaPlane<int32_t> chroma = plane(k);
        for (int row = rows.from; row < rows.to; ++row)
            for (int column = columns.from; column < columns.to; ++column) {
                const int64_t place = int64_t{row} * width_ + column;
                wrong_[k][place] = known_[place] && chroma.at(row, column) != own_[k][place];
            }
    }
    bool has_wrong(int k, Span rows, Span columns) const {
        for (int row = rows.from; row < rows.to; ++row) {
            const uint8_t* at = wrong_[k].data() + int64_t{row} * width_;
            if (memchr(at + columns.from, 1, size_t(columns.to - columns.from))) return true;
        }
        return false;
    }

    // Finds the best nodes of lines that hold wrong ones; returns how many nodes change.
    template <int Side>
    int64_t solve_lines(int axis) {
        const int lines = axis == kColumns ? rows_ : columns_;
        for (int k = 0; k < 2; ++k) {
            wrong_[k].resize(known_.size());
            share(height_, [&](int, int row) { mark(k, {row, row + 1}, {0, width_}); });
        }
        std::vector<int64_t> changes(kTasks);
        // No pixel reads two lines of one parity.
        for (int parity = 0; parity < 2; ++parity)
            share((lines + 1 - parity) / 2, [&](int task, int half) {
                for (int k = 0; k < 2; ++k)
                    changes[task] += solve_line<Side>(k, axis, 2 * half + parity);
            });
        int64_t sum = 0;
        for (int64_t count : changes) sum += count;
        return sum;
    }

    template <int Side>
    int solve_line(int k, int axis, int line) {
        const int count = axis == kColumns ? columns_ : rows_;
        const Span across = span(1 - axis, line);
        if (axis == kColumns && !has_wrong(k, across, {0, width_})) return 0;
        int changes = 0, begin = 0, end = 0;  // nodes of a piece that is searched
        for (int along = 0; along < count; ++along) {
            const Span own = span(axis, along);
            if (!(axis == kColumns ? has_wrong(k, across, own) : has_wrong(k, own, across))) continue;
            if (along - kGrow > end) {
                if (end > begin) changes += solve_piece<Side>(k, axis, line, begin, end);
                begin = along - kGrow;
            }
            begin = std::max(begin, 0), end = std::min(along + kGrow + 1, count);
        }
        if (end > begin) changes += solve_piece<Side>(k, axis, line, begin, end);
        return changes;
    }

    // Squared excesses of the pixels between a node of a line and the next one, by their changes.
    template <int Side>
    void add_costs(int k, int axis, int line, int along, int32_t* costs) {
        constexpr int kMost = 8;  // pixels that read two nodes
        const ChromaPlane<int32_t> chroma = plane(k);
        const Span across = span(1 - axis, line);
        const int first = 2 * along - 1 - colours_.phase[axis];
        const int size = axis == kColumns ? width_ : height_, bits = colours_.fraction();
        int32_t &one = node(k, axis, line, along), &next = node(k, axis, line, along + 1);
        Bound bounds[kMost];
        int count = 0;
        for (int x = std::max(first, 0); x < std::min(first + 2, size); ++x)
            for (int y = across.from; y < across.to; ++y) {
                const int row = axis == kColumns ? y : x, column = axis == kColumns ? x : y;
                const int64_t place = int64_t{row} * width_ + column;
                if (!known_[place]) continue;
                const int now = chroma.interpolated(row, column);
                const int by_one = (++one, chroma.interpolated(row, column) - now);
                const int by_next = (--one, ++next, chroma.interpolated(row, column) - now);
                --next;
                bounds[count++] = {now - (own_[k][place] << bits), by_one, by_next};
            }
        using All = Changes<Side>;
        add_squares(costs, kChanges<Side>.first, kChanges<Side>.second, All::kLanes, bounds, count,
                    (1 << bits) - 1);
    }

    // Finds the best nodes from `begin` to before `end`, by dynamic programming.
    template <int Side>
    int solve_piece(int k, int axis, int line, int begin, int end) {
        constexpr int kAll = Changes<Side>::kStates;
        int order[kAll];  // as it is comes first
        for (int i = 0; i < kAll; ++i) order[i] = Side + (i & 1 ? -(i + 1) / 2 : i / 2);
        constexpr int64_t kNever = INT64_MAX / 2;
        const int count = axis == kColumns ? columns_ : rows_, length = end - begin;
        std::vector<std::array<int64_t, kAll>> costs(length);
        std::vector<std::array<uint8_t, kAll>> from(length);
        for (int i = 0; i < length; ++i) {
            if (i % kLookNodes == 0) watch_.look();
            const int own = node(k, axis, line, begin + i);
            int32_t pairs[Changes<Side>::kLanes] = {};
            if (begin + i > 0) add_costs<Side>(k, axis, line, begin + i - 1, pairs);
            for (int j = 0; j < kAll; ++j) {
                int64_t least = kNever;
                if ((own + j - Side) & ~255) {
                } else if (i == 0) {
                    least = pairs[Side * kAll + j];
                } else {
                    for (int before : order)
                        if (costs[i - 1][before] + pairs[before * kAll + j] < least)
                            least = costs[i - 1][before] + pairs[before * kAll + j], from[i][j] = before;
                }
                costs[i][j] = least;
            }
        }
        if (end < count) {
            int32_t pairs[Changes<Side>::kLanes] = {};
            add_costs<Side>(k, axis, line, end - 1, pairs);
            for (int j = 0; j < kAll; ++j)
                if (costs[length - 1][j] < kNever) costs[length - 1][j] += pairs[j * kAll + Side];
        }
        int state = Side, changes = 0;
        for (int other : order)
            if (costs[length - 1][other] < costs[length - 1][state]) state = other;
        for (int i = length - 1; i >= 0; --i) {
            changes += state != Side;
            node(k, axis, line, begin + i) += state - Side;
            state = from[i][state];
        }
        const Span across = span(1 - axis, line);
        const Span own{span(axis, begin).from, span(axis, end - 1).to};
        if (changes) axis == kColumns ? mark(k, across, own) : mark(k, own, across);
        return changes;
    }

    // Moves both chromas of single nodes where a pixel has no luma; returns whether one moves.
    bool mend() {
        std::vector<uint8_t> moved(kTasks);
        const int row_step = 1 + colours_.halved[kRows], column_step = 1 + colours_.halved[kColumns];
        for (int top = 0; top < row_step; ++top)
            share((rows_ - top + row_step - 1) / row_step, [&](int task, int line) {
                for (int left = 0; left < column_step; ++left)
                    for (int column = left; column < columns_; column += column_step)
                        moved[task] |= mend_node(top + line * row_step, column);
            });
        return std::count(moved.begin(), moved.end(), 1) > 0;
    }
    int64_t gaps(Span rows, Span columns, int64_t bound) const {
        int64_t sum = 0;
        for (int row = rows.from; row < rows.to && sum < bound; ++row)
            for (int column = columns.from; column < columns.to; ++column)
                sum += gap_at(row, column);
        return sum;
    }
    bool mend_node(int row, int column) {
        const Span rows = span(kRows, row), columns = span(kColumns, column);
        int64_t least = gaps(rows, columns, INT64_MAX);
        if (!least) return false;
        int32_t& first = chroma_[0][int64_t{row} * columns_ + column];
        int32_t& second = chroma_[1][int64_t{row} * columns_ + column];
        const Chroma before{first, second};
        Chroma best = before;
        for (int i = -1; i <= 1; ++i)
            for (int j = -1; j <= 1; ++j) {
                first = before.first + i, second = before.second + j;
                if (!is_chroma(first, second)) continue;
                const int64_t sum = gaps(rows, columns, least);
                if (sum < least) least = sum, best = {first, second};
            }
        first = best.first, second = best.second;
        return first != before.first || second != before.second;
    }

    const SourceColours colours_;
    const Picture picture_;
    const int height_, width_;
    const int rows_, columns_;  // nodes of chroma
    ThreadTeam& team_;
    Watch& watch_;
    std::vector<int32_t> chroma_[2];  // of nodes
    std::vector<int32_t> own_[2];     // of each pixel by itself
    std::vector<uint8_t> known_;      // whether a pixel has no other chroma
    std::vector<uint8_t> wrong_[2];   // whether the interpolated chroma of a pixel is wrong
};

// Parts of a picture that stand for it.
std::vector<Picture> windows_of(const Picture& picture) {
    std::vector<Picture> windows;
    const int height = std::min(picture.height, kWindow), width = std::min(picture.width, kWindow);
    for (int i = 0; i < kWindows; ++i)
        for (int j = 0; j < kWindows; ++j)
            // Even places keep the phases.
            windows.push_back(picture.part((picture.height - height) * i / (kWindows - 1) & ~1,
                                           (picture.width - width) * j / (kWindows - 1) & ~1,
                                           height, width));
    return windows;
}

// Colours with fewer samples of chroma than pixels, those of whole pictures first.
std::vector<SourceColours> halved_colours(Kind kind) {
    std::vector<SourceColours> found;
    for (int phases = 0; phases < 4; ++phases)
        for (int halved = 3; halved; --halved) {
            const bool rows = halved & 2, columns = halved & 1;
            const int down = phases >> 1, right = phases & 1;
            if ((kind == Kind::kPhotoCd && rows != columns) || down > rows || right > columns) continue;
            found.push_back({kind, {rows, columns}, {down, right}});
        }
    return found;
}

// Colours of a kind that fit the parts of a picture at the least cost; none if they do not fit.
std::optional<SourceColours> colours_of(Kind kind, const std::vector<Picture>& windows,
                                        ThreadTeam& team, Watch& watch) {
    constexpr int kFew = 50;  // at most one pixel of 50 has none
    SourceColours chosen{kind, {}, {}};
    int64_t least = 0;
    for (const Picture& window : windows) {
        const Search search(chosen, window, team, watch);
        if (!search.fits(kFew)) return {};
        least += search.bits();
    }
    const int64_t full = least;
    for (const SourceColours& colours : halved_colours(kind)) {
        int64_t bits = 0;
        for (const Picture& window : windows) {
            Search search(colours, window, team, watch);
            search.improve();
            bits += search.bits();
        }
        if (bits < least) least = bits, chosen = colours;
        if (kGood * bits < full) break;
    }
    return chosen;
}

}  // namespace

std::optional<SourcePlanes> find_source_planes(const uint16_t* samples, int height, int width,
                                               ThreadTeam& team, const Progress& progress) {
    const Picture picture{samples, int64_t{height} * width, width, height, width};
    const std::vector<Picture> windows = windows_of(picture);
    progress(0, kPhases);
    int64_t reported = 0;
    const Progress of_phases = [&](int64_t done, int64_t) {
        progress(reported = done, kPhases);
    };
    const Progress without_phases = [&](int64_t, int64_t) { progress(reported, kPhases); };
    Watch of_windows(1, without_phases, kPause), of_picture(kPhases, of_phases, kPause);
    try {
        for (const Kind kind : {Kind::kJpeg, Kind::kPhotoCd}) {
            const auto chosen = colours_of(kind, windows, team, of_windows);
            if (!chosen) continue;
            Search search(*chosen, picture, team, of_picture);
            // A pixel that is not clipped has the chroma of its estimate, or none.
            if (!search.fits(0)) continue;
            search.improve();
            if (std::optional<SourcePlanes> found = search.planes()) return found;
        }
    } catch (const Stopped&) {
    }
    of_windows.rethrow();
    of_picture.rethrow();
    return {};
}

}  // namespace mmp
