#include "max_sum.h"

#include <algorithm>
#include <atomic>
#include <array>
#include <cstdlib>
#include <deque>
#include <limits>
#include <mutex>
#include <tuple>

// One binary runs anywhere: the loader takes the best of these.
#ifdef MMP_X86
#define MMP_SIMD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MMP_SIMD_CLONES
#endif

namespace mmp {

namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int kTops = 4;  // strips that share a top or a bottom are read together

// The answer of a strip whose rows are given, from its running sums.
auto key_of(const Strip& s, bool transposed) {
    return transposed ? std::tuple{s.start, s.first, s.stop, s.last}
                      : std::tuple{s.first, s.start, s.last, s.stop};
}

bool better(const Strip& a, const Strip& b, bool transposed) {
    if (a.sum != b.sum) return a.sum > b.sum;
    return key_of(a, transposed) < key_of(b, transposed);
}

// Running sums of the rows, so that a strip is the difference of two of them; row r of the sums
// lies at r of each column.
template <class T>
class RunningSums {
public:
    RunningSums(const int64_t* values, int64_t rows, int64_t columns)
        : stride_((rows + 1 + kPadding) / kPadding * kPadding + kPadding),
          sums_(static_cast<size_t>(stride_ * columns)) {
        constexpr int64_t kTile = 16;
        std::array<T, kTile> sum;
        for (int64_t first = 0; first < columns; first += kTile) {
            const int64_t width = std::min(kTile, columns - first);
            sum.fill(0);
            for (int64_t row = 0; row < rows; ++row)
                for (int64_t i = 0; i < width; ++i) {
                    sum[i] = static_cast<T>(sum[i] + values[row * columns + first + i]);
                    sums_[(first + i) * stride_ + row + 1] = sum[i];
                }
        }
    }

    const T* data() const { return sums_.data(); }
    int64_t stride() const { return stride_; }

    void strip(int64_t first, int64_t last, std::vector<int64_t>& out) const {
        for (size_t column = 0; column < out.size(); ++column) {
            const T* sums = &sums_[column * stride_];
            out[column] = int64_t{sums[last]} - sums[first];
        }
    }

private:
    static constexpr int64_t kPadding = 16;  // what a vector reads beyond the last row
    int64_t stride_;
    std::vector<T> sums_;
};

typedef int32_t Lanes32 __attribute__((vector_size(64)));
typedef int64_t Lanes64 __attribute__((vector_size(64)));

// Best sums of the strips from each of kTops rows to each row of a vector.
template <class T, class Lanes>
inline __attribute__((always_inline)) void best_of_strips(const T* sums, int64_t stride,
                                                          int64_t columns, const int64_t* tops,
                                                          int64_t bottom, T* out) {
    constexpr int kLanes = sizeof(Lanes) / sizeof(T);
    Lanes current[kTops], best[kTops];
    for (int i = 0; i < kTops; ++i)
        for (int lane = 0; lane < kLanes; ++lane) {
            current[i][lane] = 0;
            best[i][lane] = std::numeric_limits<T>::min();
        }
    for (int64_t column = 0; column < columns; ++column, sums += stride) {
        Lanes bottoms;
        __builtin_memcpy(&bottoms, sums + bottom, sizeof bottoms);
        for (int i = 0; i < kTops; ++i) {
            const Lanes strip = bottoms - sums[tops[i]];
            current[i] = (current[i] > 0 ? current[i] : Lanes{}) + strip;
            best[i] = best[i] > current[i] ? best[i] : current[i];
        }
    }
    __builtin_memcpy(out, best, sizeof best);
}

MMP_SIMD_CLONES void best_of_strips32(const int32_t* sums, int64_t stride, int64_t columns,
                                      const int64_t* tops, int64_t bottom, int32_t* out) {
    best_of_strips<int32_t, Lanes32>(sums, stride, columns, tops, bottom, out);
}

MMP_SIMD_CLONES void best_of_strips64(const int64_t* sums, int64_t stride, int64_t columns,
                                      const int64_t* tops, int64_t bottom, int64_t* out) {
    best_of_strips<int64_t, Lanes64>(sums, stride, columns, tops, bottom, out);
}

template <class T>
constexpr int kLanesOf = 64 / sizeof(T);

template <class T>
void best_of(const RunningSums<T>& sums, int64_t columns, const int64_t* tops, int64_t bottom,
             T* out) {
    if constexpr (sizeof(T) == 4)
        best_of_strips32(sums.data(), sums.stride(), columns, tops, bottom, out);
    else
        best_of_strips64(sums.data(), sums.stride(), columns, tops, bottom, out);
}

// Calls visit(first, last, best sum) for all strips of some tops whose height is within `heights`.
template <class T, class Visit>
void visit_strips(const RunningSums<T>& sums, int64_t rows, int64_t columns, int64_t first_top,
                  Lengths heights, const Visit& visit) {
    constexpr int kLanes = kLanesOf<T>;
    std::array<int64_t, kTops> tops;
    for (int i = 0; i < kTops; ++i) tops[i] = std::min(first_top + i, rows - 1);
    const int64_t end = std::min(rows, first_top + kTops - 1 + heights.most);
    T best[kTops][kLanes];
    for (int64_t bottom = first_top + heights.least; bottom <= end; bottom += kLanes) {
        best_of(sums, columns, tops.data(), bottom, best[0]);
        for (int i = 0; i < kTops && first_top + i < rows; ++i)
            for (int64_t lane = 0; lane < kLanes; ++lane) {
                const int64_t first = first_top + i, last = bottom + lane;
                const int64_t height = last - first;
                if (last <= rows && height >= heights.least && height <= heights.most)
                    visit(first, last, int64_t{best[i][lane]});
            }
    }
}

template <class T>
Strip max_rectangle_of(const int64_t* values, int64_t rows, int64_t columns, Lengths heights,
                       Lengths widths, bool transposed, ThreadTeam& team) {
    const RunningSums<T> sums(values, rows, columns);
    const bool any_width = widths.least <= 1 && widths.most >= columns;
    std::mutex mutex;
    Strip answer{kLowest, 0, 0, 0, 0};
    std::atomic<int64_t> known{kLowest};
    const int64_t tasks = (rows + kTops - 1) / kTops;
    // The team takes fewer than 2^16 tasks.
    const int64_t each = (tasks + 32767) / 32768;
    team.run(static_cast<uint32_t>((tasks + each - 1) / each), [&](uint32_t task) {
        std::vector<int64_t> strip(columns);
        Strip best{kLowest, 0, 0, 0, 0};
        const auto look_at = [&](int64_t first, int64_t last) {
            sums.strip(first, last, strip);
            const Interval found = max_interval(strip.data(), columns, widths);
            const Strip other{found.sum, first, last, found.start, found.stop};
            if (best.sum == kLowest || better(other, best, transposed)) best = other;
        };
        for (int64_t block = task * each; block < std::min(tasks, (task + 1) * each); ++block) {
            const int64_t top = block * kTops;
            if (any_width) {
                visit_strips(sums, rows, columns, top, heights,
                             [&](int64_t first, int64_t last, int64_t sum) {
                                 if (sum < known.load(std::memory_order_relaxed)) return;
                                 if (sum < best.sum) return;
                                 // No later strip comes first among equals.
                                 const bool later = transposed
                                                        ? best.start == 0 && first > best.first
                                                        : first > best.first;
                                 if (sum == best.sum && best.last && later) return;
                                 look_at(first, last);
                             });
            } else {
                for (int64_t first = top; first < std::min(rows, top + kTops); ++first)
                    for (int64_t last = first + heights.least;
                         last <= std::min(rows, first + heights.most); ++last)
                        look_at(first, last);
            }
        }
        if (!best.last) return;
        const std::lock_guard lock(mutex);
        if (!answer.last || better(best, answer, transposed)) answer = best;
        known.store(answer.sum, std::memory_order_relaxed);
    });
    return answer;
}

bool fits_32_bits(const int64_t* values, int64_t count) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += static_cast<uint64_t>(std::abs(values[i]));
    return sum <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max());
}

}  // namespace

Interval max_interval(const int64_t* values, int64_t count, Lengths lengths) {
    // Running sums; the best start of a stop has the least of those that it may have, the first of
    // equal ones. Starts that may still become best wait in a queue, least in front.
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
    // Starts with the least running sum: the first, the last and their number.
    int64_t least = 0, first = -1, last = -1, equal = 0;
    int64_t least_since = 0;  // of starts behind the last disjoint interval
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
    // Largest sum that ends at each value, and then largest sum that starts there.
    int64_t ending = 0;
    for (int64_t i = 0; i < count; ++i) out[i] = ending = std::max<int64_t>(ending, 0) + values[i];
    int64_t starting = 0;
    for (int64_t i = count - 1; i >= 0; --i) {
        out[i] += std::max<int64_t>(starting, 0);
        starting = std::max<int64_t>(starting, 0) + values[i];
    }
}

std::vector<Interval> maximal_intervals(const int64_t* values, int64_t count) {
    // Candidates with the running sum on their left and right. Source: Ruzzo and Tompa, "A linear
    // time algorithm for finding all maximal scoring subsequences", ISMB 1999.
    struct Candidate {
        int64_t left, right, start, stop;
        int64_t below;  // the last candidate before it with a smaller left, or -1
    };
    std::vector<Candidate> candidates;
    int64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t before = sum;
        sum += values[i];
        if (values[i] <= 0) continue;
        Candidate candidate{before, sum, i, i + 1, -1};
        for (;;) {
            int64_t j = static_cast<int64_t>(candidates.size()) - 1;
            while (j >= 0 && candidates[j].left >= candidate.left) j = candidates[j].below;
            candidate.below = j;
            if (j < 0 || candidates[j].right >= candidate.right) break;
            candidate.left = candidates[j].left;
            candidate.start = candidates[j].start;
            candidates.resize(j);
        }
        candidates.push_back(candidate);
    }
    std::vector<Interval> intervals;
    for (const Candidate& c : candidates)
        intervals.push_back({c.right - c.left, c.start, c.stop});
    return intervals;
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
    const int64_t tasks = (rows + kTops - 1) / kTops, each = (tasks + 32767) / 32768;
    team.run(static_cast<uint32_t>((tasks + each - 1) / each), [&](uint32_t task) {
        for (int64_t block = task * each; block < std::min(tasks, (task + 1) * each); ++block)
            visit_strips(sums, rows, columns, block * kTops, {1, rows},
                         [&](int64_t first, int64_t last, int64_t sum) {
                             out[first * rows - first * (first - 1) / 2 + last - 1 - first] = sum;
                         });
    });
}

}  // namespace mmp
