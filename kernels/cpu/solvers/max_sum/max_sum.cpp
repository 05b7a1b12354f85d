#include "cpu/solvers/max_sum/max_sum.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <limits>
#include <mutex>
#include <tuple>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int kTops = 4;  // number of top rows that are searched with one panel of bottom rows

// The order of strips with equal sums.
auto key_of(const Strip& s, bool transposed) {
    return transposed ? std::tuple{s.start, s.first, s.stop, s.last}
                      : std::tuple{s.first, s.start, s.last, s.stop};
}

bool better(const Strip& a, const Strip& b, bool transposed) {
    if (a.sum != b.sum) return a.sum > b.sum;
    return key_of(a, transposed) < key_of(b, transposed);
}

typedef int32_t Lanes32 __attribute__((vector_size(64)));
typedef int64_t Lanes64 __attribute__((vector_size(64)));

template <class T>
constexpr int kLanesOf = 64 / sizeof(T);

// Running sums over the rows, so that a strip is the difference of two rows of sums. A panel has as
// many rows as a vector has lanes and is stored column after column, so a search reads it in order.
template <class T>
class RunningSums {
public:
    static constexpr int64_t kPanel = kLanesOf<T>;

    RunningSums(const int64_t* values, int64_t rows, int64_t columns)
        : RunningSums(rows, columns) {
        std::vector<T> sum(columns);
        for (int64_t row = 0; row < rows; ++row) {
            T* out = &sums_[row / kPanel * kPanel * columns + row % kPanel];
            for (int64_t column = 0; column < columns; ++column) {
                sum[column] = static_cast<T>(sum[column] + values[row * columns + column]);
                out[column * kPanel] = sum[column];
            }
        }
    }

    // The sums of no values.
    RunningSums(int64_t rows, int64_t columns)
        : rows_(rows), columns_(columns), sums_((rows / kPanel + 1) * kPanel * columns) {}

    void add(const RunningSums& other) {
        for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
    }

    // Sets the sums to the difference of two others of the same size.
    void set_difference(const RunningSums& more, const RunningSums& less) {
        for (size_t i = 0; i < sums_.size(); ++i) sums_[i] = more.sums_[i] - less.sums_[i];
    }

    // Returns the address of the sum of the rows before `row` in column 0. The sums of neighbouring
    // columns are kPanel apart. Row 0, which is never a bottom, comes after the last.
    const T* down_to(int64_t row) const {
        const int64_t place = row > 0 ? row - 1 : rows_;
        return &sums_[place / kPanel * kPanel * columns_ + place % kPanel];
    }

    void strip(int64_t first, int64_t last, std::vector<int64_t>& out) const {
        const T *above = down_to(first), *below = down_to(last);
        for (int64_t column = 0; column < columns_; ++column)
            out[column] = int64_t{below[column * kPanel]} - above[column * kPanel];
    }

private:
    int64_t rows_, columns_;
    std::vector<T> sums_;
};

// Writes the best sum of the strips from each of kTops rows to each row of a panel.
template <class T, class Lanes>
inline __attribute__((always_inline)) void best_of_strips(const T* const* tops, const T* bottoms,
                                                          int64_t columns, T* out) {
    constexpr int kLanes = kLanesOf<T>;
    Lanes current[kTops], best[kTops];
    for (int i = 0; i < kTops; ++i)
        for (int lane = 0; lane < kLanes; ++lane) {
            current[i][lane] = 0;
            best[i][lane] = std::numeric_limits<T>::min();
        }
    for (int64_t column = 0; column < columns; ++column) {
        Lanes sums;
        __builtin_memcpy(&sums, bottoms + column * kLanes, sizeof sums);
        for (int i = 0; i < kTops; ++i) {
            const Lanes strip = sums - tops[i][column * kLanes];
            current[i] = (current[i] > 0 ? current[i] : Lanes{}) + strip;
            best[i] = best[i] > current[i] ? best[i] : current[i];
        }
    }
    __builtin_memcpy(out, best, sizeof best);
}

// Writes the best sum of the strips from one row to each row of a panel, for intervals of limited
// length. The starts of a stop are a window of running sums, whose minimum is needed. Starts are
// divided into blocks of the window's size, so a window covers the end of one block and the
// beginning of the next. `block` stores one vector for each start of a block.
// Source: M. van Herk, "A fast algorithm for local minimum and maximum filters", 1992.
template <class T, class Lanes>
inline __attribute__((always_inline)) void best_of_limited(const T* top, const T* bottoms,
                                                           int64_t columns, Lengths widths,
                                                           Lanes* block, T* out) {
    constexpr int kLanes = kLanesOf<T>;
    const auto smaller = [](const Lanes& a, const Lanes& b) { return a < b ? a : b; };
    const int64_t window = std::min(widths.most, columns) - widths.least + 1;
    Lanes best, sum{}, start_sum{}, so_far{};
    for (int lane = 0; lane < kLanes; ++lane) best[lane] = std::numeric_limits<T>::min();
    const auto strip = [&](int64_t column) {
        Lanes sums;
        __builtin_memcpy(&sums, bottoms + column * kLanes, sizeof sums);
        return sums - top[column * kLanes];
    };
    int64_t place = 0;  // index of the start in its block
    for (int64_t stop = 1; stop <= columns; ++stop) {
        sum += strip(stop - 1);
        const int64_t start = stop - widths.least;
        if (start < 0) continue;
        if (start > 0) start_sum += strip(start - 1);
        so_far = place == 0 ? start_sum : smaller(so_far, start_sum);
        block[place] = start_sum;
        // After this index, `block` still has the minima of the block before, up to its end.
        const bool reaches_back = start >= window && place + 1 < window;
        const Lanes least = reaches_back ? smaller(so_far, block[place + 1]) : so_far;
        const Lanes gain = sum - least;
        best = best > gain ? best : gain;
        if (++place < window) continue;
        for (int64_t i = window - 2; i >= 0; --i) block[i] = smaller(block[i], block[i + 1]);
        place = 0;
    }
    __builtin_memcpy(out, &best, sizeof best);
}

MMP_SIMD_LEVELS void best_of_strips32(const int32_t* const* tops, const int32_t* bottoms,
                                      int64_t columns, int32_t* out) {
    best_of_strips<int32_t, Lanes32>(tops, bottoms, columns, out);
}

MMP_SIMD_LEVELS void best_of_strips64(const int64_t* const* tops, const int64_t* bottoms,
                                      int64_t columns, int64_t* out) {
    best_of_strips<int64_t, Lanes64>(tops, bottoms, columns, out);
}

MMP_SIMD_LEVELS void best_of_limited32(const int32_t* top, const int32_t* bottoms, int64_t columns,
                                       Lengths widths, void* block, int32_t* out) {
    best_of_limited<int32_t, Lanes32>(top, bottoms, columns, widths, static_cast<Lanes32*>(block),
                                      out);
}

MMP_SIMD_LEVELS void best_of_limited64(const int64_t* top, const int64_t* bottoms, int64_t columns,
                                       Lengths widths, void* block, int64_t* out) {
    best_of_limited<int64_t, Lanes64>(top, bottoms, columns, widths, static_cast<Lanes64*>(block),
                                      out);
}

// Search for the best sums of the strips from each of kTops rows to each row of a panel.
template <class T>
class StripSearch {
public:
    StripSearch(const RunningSums<T>& sums, int64_t columns, Lengths widths)
        : sums_(sums), columns_(columns), widths_(widths) {
        limited_ = widths.least > 1 || widths.most < columns;
        if (limited_) block_.resize(std::min(widths.most, columns) - widths.least + 1);
    }

    // `bottom` is the first row of a panel.
    void best(const int64_t* tops, int64_t bottom, T* out) {
        const T* bottoms = sums_.down_to(bottom);
        const T* above[kTops];
        for (int i = 0; i < kTops; ++i) above[i] = sums_.down_to(tops[i]);
        if (!limited_) {
            if constexpr (sizeof(T) == 4)
                best_of_strips32(above, bottoms, columns_, out);
            else
                best_of_strips64(above, bottoms, columns_, out);
            return;
        }
        for (int i = 0; i < kTops; ++i, out += kLanesOf<T>)
            if constexpr (sizeof(T) == 4)
                best_of_limited32(above[i], bottoms, columns_, widths_, block_.data(), out);
            else
                best_of_limited64(above[i], bottoms, columns_, widths_, block_.data(), out);
    }

private:
    struct alignas(64) Vector {
        char bytes[64];
    };
    const RunningSums<T>& sums_;
    int64_t columns_;
    Lengths widths_;
    bool limited_;
    std::vector<Vector> block_;
};

// Calls visit(first, last, best sum) for the strips from kTops rows, `first_top` and the rows after
// it, to all rows below, if the height of the strip is within `heights`. Most strips with a sum
// below limit() are left out.
template <class T, class Limit, class Visit>
void visit_strips(StripSearch<T>& search, int64_t rows, int64_t first_top, Lengths heights,
                  const Limit& limit, const Visit& visit) {
    constexpr int64_t kLanes = kLanesOf<T>;
    std::array<int64_t, kTops> tops;
    for (int i = 0; i < kTops; ++i) tops[i] = std::min(first_top + i, rows - 1);
    const int64_t end = std::min(rows, first_top + kTops - 1 + heights.most);
    T best[kTops][kLanes];
    // Panels begin at row 1.
    for (int64_t bottom = (first_top + heights.least - 1) / kLanes * kLanes + 1; bottom <= end;
         bottom += kLanes) {
        search.best(tops.data(), bottom, best[0]);
        T most = best[0][0];
        for (const auto& row : best)
            for (const T sum : row) most = std::max(most, sum);
        if (most < limit()) continue;
        for (int i = 0; i < kTops && first_top + i < rows; ++i)
            for (int64_t lane = 0; lane < kLanes; ++lane) {
                const int64_t first = first_top + i, last = bottom + lane;
                const int64_t height = last - first;
                if (last <= rows && height >= heights.least && height <= heights.most)
                    visit(first, last, int64_t{best[i][lane]});
            }
    }
}

// Divides the top rows among the team: calls work(first, last) for ranges of multiples of kTops.
template <class Work>
void share_tops(int64_t rows, ThreadTeam& team, const Work& work) {
    // The team takes fewer than 2^16 tasks.
    constexpr int64_t kTasks = 32768;
    const int64_t blocks = (rows + kTops - 1) / kTops;
    const int64_t each = (blocks + kTasks - 1) / kTasks * kTops;
    team.run(static_cast<uint32_t>((rows + each - 1) / each),
             [&](uint32_t task) { work(task * each, std::min(rows, (task + 1) * each)); });
}

template <class T>
Strip max_rectangle_of(const int64_t* values, int64_t rows, int64_t columns, Lengths heights,
                       Lengths widths, bool transposed, ThreadTeam& team) {
    const RunningSums<T> sums(values, rows, columns);
    std::mutex mutex;
    Strip answer{kLowest, 0, 0, 0, 0};
    std::atomic<int64_t> known{kLowest};
    share_tops(rows, team, [&](int64_t first_top, int64_t last_top) {
        std::vector<int64_t> strip(columns);
        Strip best{kLowest, 0, 0, 0, 0};
        const auto look_at = [&](int64_t first, int64_t last) {
            sums.strip(first, last, strip);
            const Interval found = max_interval(strip.data(), columns, widths);
            const Strip other{found.sum, first, last, found.start, found.stop};
            if (best.sum == kLowest || better(other, best, transposed)) best = other;
        };
        StripSearch<T> search(sums, columns, widths);
        for (int64_t top = first_top; top < last_top; top += kTops)
            visit_strips(search, rows, top, heights,
                         [&] { return std::max(best.sum, known.load(std::memory_order_relaxed)); },
                         [&](int64_t first, int64_t last, int64_t sum) {
                             if (sum < known.load(std::memory_order_relaxed)) return;
                             if (sum < best.sum) return;
                             // Of equal sums, a later strip cannot come first.
                             const bool later = transposed ? best.start == 0 && first > best.first
                                                           : first > best.first;
                             if (sum == best.sum && best.last && later) return;
                             look_at(first, last);
                         });
        if (!best.last) return;
        const std::lock_guard lock(mutex);
        if (!answer.last || better(best, answer, transposed)) answer = best;
        known.store(answer.sum, std::memory_order_relaxed);
    });
    return answer;
}

// The order of boxes with equal sums: by the starts along the axes of the caller, then the stops.
auto key_of(const Box& box, const std::array<int, 3>& axes) {
    std::array<int64_t, 6> key;
    for (int i = 0; i < 3; ++i) {
        key[axes[i]] = box.starts[i];
        key[axes[i] + 3] = box.stops[i];
    }
    return key;
}

// The best box of slabs: planes front to back - 1, added up. The best rectangle of a slab is at
// most the sum of those of its two parts, which rules out most slabs.
template <class T>
class BoxSearch {
public:
    BoxSearch(const std::vector<RunningSums<T>>& before, const std::array<int64_t, 3>& sizes,
              const std::array<int, 3>& axes)
        : before_(before), planes_(sizes[0]), rows_(sizes[1]), columns_(sizes[2]), axes_(axes),
          bounds_((planes_ + 1) * (planes_ + 1), kUnknown) {}

    // Searches the slabs of a thickness that begin at multiples of `step`.
    void look_at(int64_t thickness, int64_t step, ThreadTeam& team) {
        constexpr int64_t kTasks = 32768;
        const int64_t count = (planes_ - thickness) / step + 1;
        const int64_t each = (count + kTasks - 1) / kTasks;
        team.run(static_cast<uint32_t>((count + each - 1) / each), [&](uint32_t task) {
            for (int64_t i = task * each; i < std::min(count, (task + 1) * each); ++i)
                look_at_slab(i * step, i * step + thickness);
        });
    }

    Box answer() const { return best_; }

private:
    static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();

    bool comes_first(const Box& a, const Box& b) const {
        return a.sum != b.sum ? a.sum > b.sum : key_of(a, axes_) < key_of(b, axes_);
    }

    // Whether a box of the slab with the best sum so far may come before the best box.
    bool may_come_first(int64_t front, int64_t back) {
        const std::lock_guard lock(mutex_);
        return comes_first({best_.sum, {front, 0, 0}, {back, 1, 1}}, best_);
    }

    int64_t& bound(int64_t front, int64_t back) { return bounds_[front * (planes_ + 1) + back]; }

    void look_at_slab(int64_t front, int64_t back) {
        int64_t& own = bound(front, back);
        if (own != kUnknown) return;
        for (int64_t middle = front + 1; middle < back; ++middle)
            if (bound(front, middle) != kUnknown && bound(middle, back) != kUnknown)
                own = std::min(own, bound(front, middle) + bound(middle, back));
        const int64_t known = known_.load(std::memory_order_relaxed);
        if (own < known || (own == known && !may_come_first(front, back))) return;
        own = best_of_slab(front, back);
    }

    // Returns the largest sum of a rectangle of the slab.
    int64_t best_of_slab(int64_t front, int64_t back) {
        RunningSums<T> slab(rows_, columns_);
        slab.set_difference(before_[back], before_[front]);
        StripSearch<T> search(slab, columns_, {1, columns_});
        std::vector<int64_t> strip(columns_);
        int64_t most = kLowest;
        const auto visit = [&](int64_t first, int64_t last, int64_t sum) {
            most = std::max(most, sum);
            if (sum < known_.load(std::memory_order_relaxed)) return;
            const std::lock_guard lock(mutex_);
            // Of equal sums, no interval of this strip may come first.
            Box other{sum, {front, first, 0}, {back, last, 1}};
            if (best_.sum != kLowest && !comes_first(other, best_)) return;
            slab.strip(first, last, strip);
            const Interval found = max_interval(strip.data(), columns_, {1, columns_});
            other.starts[2] = found.start;
            other.stops[2] = found.stop;
            if (best_.sum == kLowest || comes_first(other, best_)) best_ = other;
            known_.store(best_.sum, std::memory_order_relaxed);
        };
        for (int64_t top = 0; top < rows_; top += kTops)
            visit_strips(search, rows_, top, {1, rows_}, [&] { return most; }, visit);
        return most;
    }

    const std::vector<RunningSums<T>>& before_;
    const int64_t planes_, rows_, columns_;
    const std::array<int, 3>& axes_;
    std::vector<int64_t> bounds_;  // upper bound of the sum of a rectangle of each slab
    std::mutex mutex_;
    Box best_{kLowest, {}, {}};
    std::atomic<int64_t> known_{kLowest};
};

template <class T>
Box max_box_of(const int64_t* values, std::array<int64_t, 3> sizes, const std::array<int, 3>& axes,
               ThreadTeam& team) {
    const auto [planes, rows, columns] = sizes;
    // Sums over the planes before a plane, too, so that a slab is a difference of two of them.
    std::vector<RunningSums<T>> before(1, RunningSums<T>(rows, columns));
    for (int64_t plane = 0; plane < planes; ++plane) {
        before.emplace_back(values + plane * rows * columns, rows, columns);
        before.back().add(before[plane]);
    }
    BoxSearch<T> search(before, sizes, axes);
    // Few slabs of each thickness give a sum that is hard to reach, and bounds for the others.
    for (int64_t thickness = 1; thickness <= planes; thickness *= 2)
        search.look_at(thickness, thickness, team);
    for (int64_t thickness = 1; thickness <= planes; ++thickness)
        search.look_at(thickness, 1, team);
    return search.answer();
}

bool fits_32_bits(const int64_t* values, int64_t count) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += static_cast<uint64_t>(std::abs(values[i]));
    return sum <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max());
}

}  // namespace

Interval max_interval(const int64_t* values, int64_t count, Lengths lengths) {
    // The best start of a stop is the first allowed start with the smallest running sum. The queue
    // holds the starts that can still become best, smallest sum in front.
    const bool limited = lengths.most < count;
    std::deque<std::pair<int64_t, int64_t>> waiting;
    int64_t least = 0, least_at = -1, sum = 0, start_sum = 0;
    Interval best{kLowest, 0, 0};
    for (int64_t stop = 1; stop <= count; ++stop) {
        sum += values[stop - 1];
        const int64_t start = stop - lengths.least;
        if (start < 0) continue;
        if (start > 0) start_sum += values[start - 1];
        if (limited) {
            while (!waiting.empty() && waiting.back().first > start_sum) waiting.pop_back();
            waiting.emplace_back(start_sum, start);
            while (waiting.front().second < stop - lengths.most) waiting.pop_front();
            std::tie(least, least_at) = waiting.front();
        } else if (least_at < 0 || start_sum < least) {
            least = start_sum;
            least_at = start;
        }
        const bool first = best.stop == 0;
        if (first || sum - least > best.sum) best = {sum - least, least_at, stop};
        else if (sum - least == best.sum && least_at < best.start) best = {best.sum, least_at, stop};
    }
    return best;
}

IntervalCensus interval_census(const int64_t* values, int64_t count) {
    const int64_t most = max_interval(values, count, {1, count}).sum;
    IntervalCensus census{most, 0, 0, {most, 0, 0}, {most, 0, 0}};
    int64_t sum = 0, before = 0;
    // Starts with the smallest running sum: the first, the last and their number.
    int64_t least = 0, first = -1, last = -1, equal = 0;
    int64_t least_since = 0;  // smallest running sum since the end of the last disjoint interval
    bool any_since = false;
    for (int64_t stop = 1; stop <= count; ++stop) {
        before = sum;
        sum += values[stop - 1];
        const int64_t start = stop - 1;
        if (first < 0 || before < least) {
            least = before;
            first = start;
            equal = 0;
        }
        if (before == least) {
            last = start;
            ++equal;
        }
        if (!any_since || before < least_since) least_since = before;
        any_since = true;
        if (sum - least == most) {
            census.intervals += equal;
            const Interval longest{most, first, stop}, shortest{most, last, stop};
            const auto length = [](const Interval& i) { return i.stop - i.start; };
            if (!census.longest.stop || length(longest) > length(census.longest))
                census.longest = longest;
            if (!census.shortest.stop || length(shortest) < length(census.shortest))
                census.shortest = shortest;
        }
        if (sum - least_since == most) {
            ++census.disjoint;
            any_since = false;
        }
    }
    return census;
}

void sums_through(const int64_t* values, int64_t count, int64_t* out) {
    // Add the largest sum that ends at each value and the largest sum that starts after it.
    int64_t ending = 0;
    for (int64_t i = 0; i < count; ++i) out[i] = ending = std::max<int64_t>(ending, 0) + values[i];
    int64_t starting = 0;
    for (int64_t i = count - 1; i >= 0; --i) {
        out[i] += std::max<int64_t>(starting, 0);
        starting = std::max<int64_t>(starting, 0) + values[i];
    }
}

Strip max_rectangle(const int64_t* values, int64_t rows, int64_t columns, Lengths heights,
                    Lengths widths, bool transposed, ThreadTeam& team) {
    const auto solve = fits_32_bits(values, rows * columns) ? max_rectangle_of<int32_t>
                                                            : max_rectangle_of<int64_t>;
    return solve(values, rows, columns, heights, widths, transposed, team);
}

Box max_box(const int64_t* values, const std::array<int64_t, 3>& sizes,
            const std::array<int, 3>& axes, ThreadTeam& team) {
    const auto solve = fits_32_bits(values, sizes[0] * sizes[1] * sizes[2]) ? max_box_of<int32_t>
                                                                           : max_box_of<int64_t>;
    return solve(values, sizes, axes, team);
}

void strip_maxima(const int64_t* values, int64_t rows, int64_t columns, int64_t* out,
                  ThreadTeam& team) {
    const RunningSums<int64_t> sums(values, rows, columns);
    share_tops(rows, team, [&](int64_t first_top, int64_t last_top) {
        StripSearch<int64_t> search(sums, columns, {1, columns});
        for (int64_t top = first_top; top < last_top; top += kTops)
            visit_strips(search, rows, top, {1, rows}, [] { return kLowest; },
                         [&](int64_t first, int64_t last, int64_t sum) {
                             out[first * rows - first * (first - 1) / 2 + last - 1 - first] = sum;
                         });
    });
}

}  // namespace mmp
