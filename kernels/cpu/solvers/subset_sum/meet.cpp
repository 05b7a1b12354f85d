// Meet in the middle: all sums of each half of the items, and the pair of sums that gives the
// wanted sum.
#include <algorithm>

#include "cpu/solvers/subset_sum/subset_sum.h"

namespace mmp {

namespace {

constexpr int64_t kShare = 1 << 14;  // least sums per task, if there are several tasks

// The distinct sums of some items, ascending, each with the bit mask of the first set that has it.
struct Sums {
    std::vector<int64_t> sums{0};
    std::vector<uint32_t> masks{0};

    void add(int64_t weight, uint32_t bit, int64_t limit) {
        const size_t size = sums.size();
        const size_t fit =
            weight > limit ? 0
                           : std::upper_bound(sums.begin(), sums.end(), limit - weight) - sums.begin();
        std::vector<int64_t> merged(size + fit);
        std::vector<uint32_t> marks(size + fit);
        size_t without = 0, with = 0, count = 0;
        while (without < size || with < fit) {
            const int64_t raised = with < fit ? sums[with] + weight : INT64_MAX;
            const int64_t kept = without < size ? sums[without] : INT64_MAX;
            const bool keep = kept <= raised;  // for equal sums, the set without the item is first
            merged[count] = keep ? kept : raised;
            marks[count++] = keep ? masks[without] : masks[with] | bit;
            without += keep;
            with += raised <= kept;
        }
        merged.resize(count);
        marks.resize(count);
        sums.swap(merged);
        masks.swap(marks);
    }
};

struct Pair {
    int64_t sum;
    uint32_t high, low;

    bool precedes(const Pair& other) const { return high < other.high; }
};

// For a share of the high sums: the pair with the least sum from the target up, and the pair with
// the largest sum below the target.
struct Best {
    Pair above{INT64_MAX, 0, 0}, below{-1, 0, 0};

    void see_above(const Pair& pair) {
        if (pair.sum < above.sum || (pair.sum == above.sum && pair.precedes(above))) above = pair;
    }
    void see_below(const Pair& pair) {
        if (pair.sum > below.sum || (pair.sum == below.sum && pair.precedes(below))) below = pair;
    }
};

Best search(const Sums& low, const Sums& high, size_t first, size_t last, int64_t target,
            int64_t limit) {
    Best best;
    size_t at = std::lower_bound(low.sums.begin(), low.sums.end(), target - high.sums[first]) -
                low.sums.begin();
    for (size_t i = first; i < last; ++i) {
        const int64_t sum = high.sums[i];
        while (at && low.sums[at - 1] + sum >= target) --at;
        if (at < low.sums.size() && low.sums[at] + sum <= limit)
            best.see_above({low.sums[at] + sum, high.masks[i], low.masks[at]});
        if (at) best.see_below({low.sums[at - 1] + sum, high.masks[i], low.masks[at - 1]});
    }
    return best;
}

}  // namespace

Subset meet_subset(const std::vector<int64_t>& weights, int64_t target, int64_t limit,
                   Deadline deadline, ThreadTeam& team) {
    const size_t half = weights.size() / 2;
    Sums halves[2];
    team.run(2, [&](uint32_t which) {
        const size_t first = which ? half : 0, last = which ? weights.size() : half;
        for (size_t i = first; i < last; ++i) {
            stop_if_over(deadline);
            halves[which].add(weights[i], uint32_t{1} << (i - first), limit);
        }
    });
    const Sums &low = halves[0], &high = halves[1];
    const int64_t count = high.sums.size();
    const int tasks = static_cast<int>(std::clamp<int64_t>(count / kShare, 1, 256));
    std::vector<Best> parts(tasks);
    team.run(tasks, [&](uint32_t task) {
        stop_if_over(deadline);
        parts[task] = search(low, high, count * task / tasks, count * (task + 1) / tasks, target,
                             limit);
    });
    Best best;
    for (const Best& part : parts) {
        best.see_above(part.above);
        best.see_below(part.below);
    }
    const Pair& pair = best.above.sum <= limit ? best.above : best.below;
    Subset found{pair.sum, {}};
    for (size_t i = 0; i < weights.size(); ++i)
        if ((i < half ? pair.low >> i : pair.high >> (i - half)) & 1) found.items.push_back(i);
    return found;
}

}  // namespace mmp
