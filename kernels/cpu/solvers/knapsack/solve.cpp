#include "cpu/solvers/knapsack/solve.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "cpu/runtime/interrupts.h"
#include "cpu/solvers/knapsack/counting.h"
#include "cpu/solvers/knapsack/items.h"
#include "cpu/solvers/knapsack/lists.h"
#include "cpu/solvers/knapsack/surrogate.h"

namespace mmp {

namespace {

constexpr int64_t kShort = 3 << 11;   // states of the lists before the surrogate relaxation
// Limits of states: in the lists of each surrogate knapsack, and in the lists that follow if its
// bound closed more than 1 / kUseful of the gap.
constexpr int64_t kSurrogateWork = 1 << 20, kLowered = 1 << 15, kUseful = 8;
// Limits of states between two counting steps: first, last, growth; a counting step may make 1 /
// kCountShare of them.
constexpr int64_t kFirst = 1 << 15, kLast = 1 << 24, kGrowth = 8, kCountShare = 4;
constexpr int64_t kProportionalWork = 1 << 18;  // list states before a subset-sum solver takes over
constexpr int64_t kMostCounted = int64_t{1} << 60;  // exclusive limit of the sum of all weights

// Search for the best choice of the open items.
class Search {
public:
    Search(OpenItems& open, int64_t count, int64_t capacity, const SolveLimits& limits,
           const uint8_t* base, uint8_t* take)
        : open_(open), count_(count), limits_(limits), base_(base), take_(take),
          states_(capacity + 1) {}

    SolveOutcome run() {
        int64_t profits = open_.bound - open_.profit + 1, weights = open_.room;
        int64_t most = 0, heaviest = 0;
        for (const KnapsackItem& item : open_.items) {
            profits += item.profit;
            weights = weights < INT64_MAX - item.weight ? weights + item.weight : INT64_MAX;
            most = std::max(most, item.profit);
            heaviest = std::max(heaviest, item.weight);
        }
        all_weights_ = weights;
        const auto bits = [](int64_t a, int64_t b) {
            return std::bit_width(static_cast<uint64_t>(a)) +
                   std::bit_width(static_cast<uint64_t>(b));
        };
        const bool narrow = std::max(bits(profits, heaviest), bits(weights, most)) <= 61;
        return narrow ? take_turns<int64_t>() : take_turns<Int128>();
    }

private:
    template <class Wide>
    SolveOutcome take_turns() {
        Lists<Wide> lists(open_, {limits_.list, limits_.stored, limits_.deadline});
        if (lists.run(kShort)) return finish(lists, SolveOutcome::kLists);
        if (open_.proportional && limits_.hands_over) {
            const bool done = lists.run(kProportionalWork);
            return finish(lists, done ? SolveOutcome::kLists : SolveOutcome::kProportional);
        }
        if (is_over(limits_.deadline)) return finish(lists, SolveOutcome::kLimit);
        const int64_t most = most_work();
        if (!open_.proportional) {
            const SurrogateAnswer relaxed =
                surrogate_bound(open_, lists.best(), lists.bound(), kSurrogateWork,
                                {limits_.list, limits_.stored, limits_.deadline});
            if (!relaxed.taken.empty()) keep(open_.items, relaxed.taken);
            const int64_t gap = lists.bound() - lists.best();
            const bool lower = lists.bound() - relaxed.bound > gap / kUseful;
            lists.learn(relaxed.best, relaxed.bound);
            if (lists.done()) return finish(lists, SolveOutcome::kBound);
            if (lower && lists.run(kLowered)) return finish(lists, SolveOutcome::kLists);
        }
        if (is_over(limits_.deadline)) return finish(lists, SolveOutcome::kLimit);
        if (all_weights_ < kMostCounted) {
            CountedItems items;
            Mask taken;
            int64_t before = 0;  // profit of the open items in the break solution
            items.capacity = open_.room;
            std::vector<KnapsackItem> sorted = open_.items;
            // Selection runs faster on sorted items.
            std::sort(sorted.begin(), sorted.end(), comes_before<Wide>);
            for (const KnapsackItem& item : sorted) {
                items.profits.push_back(item.profit);
                items.weights.push_back(item.weight);
                taken.push_back(base_[item.place]);
                if (!taken.back()) continue;
                before += item.profit;
                items.capacity += item.weight;
            }
            Counting counting(items, taken, before + lists.best(), before + lists.bound(),
                              limits_.deadline);
            const auto take_over = [&] {
                if (counting.value() - before > lists.best()) keep(sorted, counting.taken());
                lists.learn(counting.value() - before, counting.bound() - before);
                return counting.value() == counting.bound();
            };
            counting.narrow();
            if (take_over()) return finish(lists, SolveOutcome::kBound);
            for (int64_t work = kFirst; work <= kLast && work < most; work *= kGrowth) {
                if (lists.run(work)) return finish(lists, SolveOutcome::kLists);
                counting.learn(before + lists.best());
                counting.wide(work / kCountShare);
                if (take_over()) return finish(lists, SolveOutcome::kBound);
            }
        }
        const bool done = lists.run(most);
        return finish(lists, done ? SolveOutcome::kLists : SolveOutcome::kLimit);
    }

    // Stores a better choice that the lists did not find.
    void keep(const std::vector<KnapsackItem>& items, const Mask& taken) {
        kept_ = taken;
        kept_places_.clear();
        for (const KnapsackItem& item : items) kept_places_.push_back(item.place);
    }

    // Takes over the best choice: from the lists, else the stored one if it is better than the
    // first choice.
    template <class Wide>
    SolveOutcome finish(const Lists<Wide>& lists, SolveOutcome outcome) {
        const int64_t first = open_.best;
        open_.best = open_.profit + lists.best();
        open_.bound = open_.profit + lists.bound();
        if (open_.best == first) return outcome;
        std::vector<uint8_t> changed;
        const bool listed = lists.changes(changed);
        std::copy_n(base_, count_, take_);
        if (listed) {
            for (size_t i = 0; i < open_.items.size(); ++i)
                take_[open_.items[i].place] ^= changed[i];
        } else {
            for (size_t i = 0; i < kept_.size(); ++i) take_[kept_places_[i]] = kept_[i];
        }
        return outcome;
    }

    // Returns the number of states after which a dynamic programming table is faster; unlimited if
    // the table does not fit into memory.
    int64_t most_work() const {
        if (states_ > limits_.table_states) return INT64_MAX / 2;
        const auto cells = Int128{states_} * static_cast<int64_t>(open_.items.size());
        return std::max(limits_.least_work,
                        static_cast<int64_t>(std::min(cells / limits_.cells_a_state,
                                                      Int128{INT64_MAX / 2})));
    }

    OpenItems& open_;
    const int64_t count_;
    const SolveLimits limits_;
    const uint8_t* const base_;
    uint8_t* const take_;
    const int64_t states_;
    int64_t all_weights_ = 0;  // sum over the open items
    Mask kept_;                // best choice of the open items found outside the lists
    std::vector<int64_t> kept_places_;  // their indices in the caller's arrays
};

}  // namespace

SolveOutcome knapsack_solve(const int64_t* profits, const int64_t* weights, int64_t count,
                            int64_t capacity, const SolveLimits& limits, int64_t& value,
                            int64_t& bound, uint8_t* take) {
    std::vector<uint8_t> base(count);
    OpenItems open = open_items(profits, weights, count, capacity, base.data(), take);
    SolveOutcome outcome = open.everything ? SolveOutcome::kSettled : SolveOutcome::kBound;
    if (!open.items.empty())
        outcome = Search(open, count, capacity, limits, base.data(), take).run();
    value = open.best * open.profit_unit;
    bound = open.bound * open.profit_unit;
    return outcome;
}

}  // namespace mmp
