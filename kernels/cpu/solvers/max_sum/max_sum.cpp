#include "cpu/solvers/max_sum/max_sum.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <tuple>
#include <vector>

#include "cpu/solvers/max_sum/interval.h"
#include "cpu/solvers/max_sum/strips.h"

namespace mmp {

namespace {

// Tie order of strips.
auto key_of(const Strip& s, bool transposed) {
    return transposed ? std::tuple{s.start, s.first, s.stop, s.last}
                      : std::tuple{s.first, s.start, s.last, s.stop};
}

bool better(const Strip& a, const Strip& b, bool transposed) {
    if (a.sum != b.sum) return a.sum > b.sum;
    return key_of(a, transposed) < key_of(b, transposed);
}

// Divides the top rows among the threads: calls work(first, last) for ranges that begin at
// multiples of kTops.
template <class Work>
void share_tops(int64_t rows, ThreadTeam& team, const Work& work) {
    // A team takes fewer than 2^16 tasks.
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
        for (int64_t top = first_top; top < last_top; top += kTops) {
            team.look();
            visit_strips(search, rows, top, heights,
                         [&] { return std::max(best.sum, known.load(std::memory_order_relaxed)); },
                         [&](int64_t first, int64_t last, int64_t sum) {
                             if (sum < known.load(std::memory_order_relaxed)) return;
                             if (sum < best.sum) return;
                             // With an equal sum, a later strip cannot come first in tie order.
                             const bool later = transposed ? best.start == 0 && first > best.first
                                                           : first > best.first;
                             if (sum == best.sum && best.last && later) return;
                             look_at(first, last);
                         });
        }
        if (!best.last) return;
        const std::lock_guard lock(mutex);
        if (!answer.last || better(best, answer, transposed)) answer = best;
        known.store(answer.sum, std::memory_order_relaxed);
    });
    return answer;
}

// Returns the first best interval of limited length. The allowed starts of a stop form a window,
// whose least running sum is found as in `search_limited`.
Interval limited_interval(const int64_t* values, int64_t count, Lengths lengths) {
    const int64_t window = lengths.most - lengths.least + 1;
    std::vector<int64_t> block(window);
    int64_t sum = 0, start_sum = 0, so_far = 0, place = 0, best = kLowest, best_stop = 0;
    for (int64_t i = 0; i < lengths.least - 1; ++i) sum += values[i];
    for (int64_t stop = lengths.least; stop <= count; ++stop) {
        sum += values[stop - 1];
        const int64_t start = stop - lengths.least;
        if (start > 0) start_sum += values[start - 1];
        so_far = place == 0 ? start_sum : std::min(so_far, start_sum);
        block[place] = start_sum;
        // Beyond this index, `block` still holds the suffix minima of the previous block.
        const bool reaches_back = start >= window && place + 1 < window;
        const int64_t gain = sum - (reaches_back ? std::min(so_far, block[place + 1]) : so_far);
        if (gain > best || !best_stop) {
            best = gain;
            best_stop = stop;
        }
        if (++place < window) continue;
        for (int64_t i = window - 2; i >= 0; --i) block[i] = std::min(block[i], block[i + 1]);
        place = 0;
    }
    // Scanning backwards, the last start found is the first one in order.
    Interval found{best, 0, best_stop};
    int64_t back = 0;
    for (int64_t start = best_stop - 1; start >= std::max<int64_t>(best_stop - lengths.most, 0);
         --start) {
        back += values[start];
        if (back == best && best_stop - start >= lengths.least) found.start = start;
    }
    return found;
}

}  // namespace

Interval max_interval(const int64_t* values, int64_t count, Lengths lengths) {
    if (lengths.most < count) return limited_interval(values, count, lengths);
    // The best start of a stop is the first allowed start with the smallest running sum. It never
    // moves to the left, so the first stop with the largest sum also has the first start.
    int64_t least = 0, least_at = 0, sum = 0, start_sum = 0;
    Interval best{kLowest, 0, 0};
    for (int64_t stop = 1; stop <= count; ++stop) {
        sum += values[stop - 1];
        const int64_t start = stop - lengths.least;
        if (start < 0) continue;
        if (start > 0) start_sum += values[start - 1];
        if (start_sum < least) {
            least = start_sum;
            least_at = start;
        }
        if (sum - least > best.sum || !best.stop) best = {sum - least, least_at, stop};
    }
    return best;
}

IntervalCensus interval_census(const int64_t* values, int64_t count) {
    const int64_t most = largest_interval(values, count, 1).sum;
    IntervalCensus census{most, 0, 0, {most, 0, 0}, {most, 0, 0}};
    int64_t sum = 0, before = 0;
    // Starts with the smallest running sum: the first, the last, and their number.
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
    // Sum of the best interval that ends at each value and the best one that starts after it.
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

void strip_maxima(const int64_t* values, int64_t rows, int64_t columns, int64_t* out,
                  ThreadTeam& team) {
    const RunningSums<int64_t> sums(values, rows, columns);
    share_tops(rows, team, [&](int64_t first_top, int64_t last_top) {
        StripSearch<int64_t> search(sums, columns, {1, columns});
        for (int64_t top = first_top; top < last_top; top += kTops) {
            team.look();
            visit_strips(search, rows, top, {1, rows}, [] { return kLowest; },
                         [&](int64_t first, int64_t last, int64_t sum) {
                             out[first * rows - first * (first - 1) / 2 + last - 1 - first] = sum;
                         });
        }
    });
}

}  // namespace mmp
