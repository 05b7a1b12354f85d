#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <vector>

#include "cpu/solvers/max_sum/max_sum.h"
#include "cpu/solvers/max_sum/strips.h"

namespace mmp {

namespace {

using Axes = std::array<int, 3>;
using Sizes = std::array<int64_t, 3>;

// Tie order of boxes: by their starts along the axes of the caller, then by their stops.
std::array<int64_t, 6> key_of(const Box& box, const Axes& axes) {
    std::array<int64_t, 6> key;
    for (int i = 0; i < 3; ++i) {
        key[axes[i]] = box.starts[i];
        key[axes[i] + 3] = box.stops[i];
    }
    return key;
}

int64_t volume(const Box& box) {
    int64_t product = 1;
    for (int i = 0; i < 3; ++i) product *= box.stops[i] - box.starts[i];
    return product;
}

// Merges boxes with the same sum into a census.
void add(BoxCensus& census, int64_t boxes, const Box& largest, const Box& smallest,
         const Axes& axes) {
    const auto first = [&](const Box& a, const Box& b) { return key_of(a, axes) < key_of(b, axes); };
    const int64_t more = volume(largest), most = volume(census.largest);
    if (!census.boxes || more > most || (more == most && first(largest, census.largest)))
        census.largest = largest;
    const int64_t less = volume(smallest), least = volume(census.smallest);
    if (!census.boxes || less < least || (less == least && first(smallest, census.smallest)))
        census.smallest = smallest;
    census.boxes += boxes;
}

// Search for the best box by slabs: a slab is the sum of planes front to back - 1. The best
// rectangle of a slab is at most the sum of the best rectangles of its two parts, which prunes most
// slabs.
template <class T>
class BoxSearch {
public:
    BoxSearch(const std::vector<RunningSums<T>>& before, const Sizes& sizes, const Axes& axes,
              const std::array<Lengths, 3>& limits)
        : before_(before), planes_(sizes[0]), rows_(sizes[1]), columns_(sizes[2]), axes_(axes),
          limits_(limits), bounds_((planes_ + 1) * (planes_ + 1), kUnknown) {}

    Box best(ThreadTeam& team) {
        const auto [least, most] = limits_[0];
        // Slabs below the least thickness only give bounds: single planes are searched, thicker
        // ones get the bound of their parts.
        for (int64_t thickness = 1; thickness < least; ++thickness) look_at(thickness, 1, team);
        // A few slabs of each thickness first: they give a large sum early, and bounds for the
        // other slabs.
        for (int64_t thickness = least; thickness <= most; thickness *= 2)
            look_at(thickness, thickness, team);
        for (int64_t thickness = least; thickness <= most; ++thickness)
            look_at(thickness, 1, team);
        return best_;
    }

    // Counts the boxes with the best sum, after the search. Only slabs whose bound (or exact
    // largest sum) reaches it can contain one.
    BoxCensus census(ThreadTeam& team) {
        BoxCensus census{best_.sum, 0, best_, best_};
        std::vector<std::array<int64_t, 2>> slabs;
        for (int64_t front = 0; front < planes_; ++front)
            for (int64_t back = front + 1; back <= planes_; ++back)
                if (bound(front, back) >= best_.sum) slabs.push_back({front, back});
        share(static_cast<int64_t>(slabs.size()), team, [&](int64_t i) {
            const BoxCensus found = census_of_slab(slabs[i][0], slabs[i][1]);
            if (!found.boxes) return;
            const std::lock_guard lock(mutex_);
            add(census, found.boxes, found.largest, found.smallest, axes_);
        });
        return census;
    }

private:
    static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();

    // Calls work(0) to work(count - 1), in batches, because a team takes fewer than 2^16 tasks.
    template <class Work>
    static void share(int64_t count, ThreadTeam& team, const Work& work) {
        constexpr int64_t kTasks = 32768;
        const int64_t each = std::max<int64_t>((count + kTasks - 1) / kTasks, 1);
        team.run(static_cast<uint32_t>((count + each - 1) / each), [&](uint32_t task) {
            for (int64_t i = task * each; i < std::min(count, (task + 1) * each); ++i) {
                team.look();
                work(i);
            }
        });
    }

    // Searches the slabs of this thickness that begin at multiples of `step`.
    void look_at(int64_t thickness, int64_t step, ThreadTeam& team) {
        share((planes_ - thickness) / step + 1, team,
              [&](int64_t i) { look_at_slab(i * step, i * step + thickness); });
    }

    bool comes_first(const Box& a, const Box& b) const {
        return a.sum != b.sum ? a.sum > b.sum : key_of(a, axes_) < key_of(b, axes_);
    }

    // Whether a box of the slab with a sum equal to the best one may precede the best box in tie
    // order.
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
        const bool is_answer = back - front >= limits_[0].least;
        if (!is_answer && back - front > 1) return;
        const int64_t known = known_.load(std::memory_order_relaxed);
        if (own < known || (own == known && !may_come_first(front, back))) return;
        own = best_of_slab(front, back, is_answer);
    }

    // Returns the largest sum of a rectangle of the slab.
    int64_t best_of_slab(int64_t front, int64_t back, bool is_answer) {
        int64_t most = kLowest;
        const auto visit = [&](const RunningSums<T>& slab, int64_t first, int64_t last,
                               int64_t sum, std::vector<int64_t>& strip) {
            most = std::max(most, sum);
            if (!is_answer || sum < known_.load(std::memory_order_relaxed)) return;
            const std::lock_guard lock(mutex_);
            // With an equal sum, no interval of this strip can precede the best box.
            Box other{sum, {front, first, 0}, {back, last, 1}};
            if (best_.sum != kLowest && !comes_first(other, best_)) return;
            slab.strip(first, last, strip);
            const Interval found = max_interval(strip.data(), columns_, limits_[2]);
            other.starts[2] = found.start;
            other.stops[2] = found.stop;
            if (best_.sum == kLowest || comes_first(other, best_)) best_ = other;
            known_.store(best_.sum, std::memory_order_relaxed);
        };
        visit_slab(front, back, [&] { return most; }, visit);
        return most;
    }

    BoxCensus census_of_slab(int64_t front, int64_t back) {
        BoxCensus census{best_.sum, 0, best_, best_};
        visit_slab(
            front, back, [&] { return best_.sum; },
            [&](const RunningSums<T>& slab, int64_t first, int64_t last, int64_t sum,
                std::vector<int64_t>& strip) {
                if (sum != best_.sum) return;
                slab.strip(first, last, strip);
                const IntervalCensus found = interval_census(strip.data(), columns_);
                const auto box = [&](const Interval& interval) {
                    return Box{sum, {front, first, interval.start}, {back, last, interval.stop}};
                };
                add(census, found.intervals, box(found.longest), box(found.shortest), axes_);
            });
        return census;
    }

    // Calls visit(slab, first, last, best sum, scratch for a strip) for strips of rows of a slab.
    template <class Limit, class Visit>
    void visit_slab(int64_t front, int64_t back, const Limit& limit, const Visit& visit) {
        RunningSums<T> slab(rows_, columns_);
        slab.set_difference(before_[back], before_[front]);
        StripSearch<T> search(slab, columns_, limits_[2]);
        std::vector<int64_t> strip(columns_);
        for (int64_t top = 0; top < rows_; top += kTops)
            visit_strips(search, rows_, top, limits_[1], limit,
                         [&](int64_t first, int64_t last, int64_t sum) {
                             visit(slab, first, last, sum, strip);
                         });
    }

    const std::vector<RunningSums<T>>& before_;
    const int64_t planes_, rows_, columns_;
    const Axes& axes_;
    const std::array<Lengths, 3> limits_;
    std::vector<int64_t> bounds_;  // upper bound of a rectangle's sum in each slab
    std::mutex mutex_;
    Box best_{kLowest, {}, {}};
    std::atomic<int64_t> known_{kLowest};
};

// Calls `work` with a search in the volume; sums have 32 bits if they fit.
template <class Work>
auto with_search(const int64_t* values, const Sizes& sizes, const Axes& axes,
                 const std::array<Lengths, 3>& limits, const Work& work) {
    const int64_t size = sizes[1] * sizes[2];
    const auto run = [&]<class T>(T) {
        // Prefix sums over planes: a slab is the difference of two of them.
        std::vector<RunningSums<T>> before(1, RunningSums<T>(sizes[1], sizes[2]));
        for (int64_t plane = 0; plane < sizes[0]; ++plane) {
            before.emplace_back(values + plane * size, sizes[1], sizes[2]);
            before.back().add(before[plane]);
        }
        BoxSearch<T> search(before, sizes, axes, limits);
        return work(search);
    };
    return fits_32_bits(values, sizes[0] * size) ? run(int32_t{}) : run(int64_t{});
}

}  // namespace

Box max_box(const int64_t* values, const Sizes& sizes, const Axes& axes,
            const std::array<Lengths, 3>& limits, ThreadTeam& team) {
    return with_search(values, sizes, axes, limits, [&](auto& search) { return search.best(team); });
}

BoxCensus box_census(const int64_t* values, const Sizes& sizes, const Axes& axes,
                     ThreadTeam& team) {
    const std::array<Lengths, 3> limits{{{1, sizes[0]}, {1, sizes[1]}, {1, sizes[2]}}};
    return with_search(values, sizes, axes, limits, [&](auto& search) {
        search.best(team);
        return search.census(team);
    });
}

}  // namespace mmp
