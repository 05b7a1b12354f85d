#include "cpu/solvers/knapsack/solve.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "cpu/solvers/knapsack/items.h"
#include "cpu/solvers/knapsack/lists.h"

namespace mmp {

namespace {

constexpr int64_t kShort = 1 << 16;      // states of short lists

// The search for the best choice of the open items.
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
        SolveOutcome outcome = SolveOutcome::kLists;
        if (!lists.run(kShort)) {
            if (open_.proportional)
                outcome = SolveOutcome::kProportional;
            else if (!lists.run(most_work()))
                outcome = SolveOutcome::kLimit;
        }
        take_over(lists);
        return outcome;
    }

    template <class Wide>
    void take_over(const Lists<Wide>& lists) {
        open_.best = open_.profit + lists.best();
        open_.bound = open_.profit + lists.bound();
        std::vector<uint8_t> changed;
        if (!lists.changes(changed)) return;
        std::copy_n(base_, count_, take_);
        for (size_t i = 0; i < changed.size(); ++i) take_[open_.items[i].place] ^= changed[i];
    }

    // Returns the states after which a table is faster; no limit if it does not fit into memory.
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
};

}  // namespace

SolveOutcome knapsack_solve(const int64_t* profits, const int64_t* weights, int64_t count,
                            int64_t capacity, const SolveLimits& limits, int64_t& value,
                            int64_t& bound, uint8_t* take) {
    std::vector<uint8_t> base(count);
    OpenItems open = open_items(profits, weights, count, capacity, base.data(), take);
    SolveOutcome outcome = SolveOutcome::kSettled;
    if (!open.items.empty())
        outcome = Search(open, count, capacity, limits, base.data(), take).run();
    value = open.best * open.profit_unit;
    bound = open.bound * open.profit_unit;
    return outcome;
}

}  // namespace mmp
