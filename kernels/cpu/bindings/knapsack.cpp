// Knapsacks in the Python module mmpcodec._cpu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "cpu/runtime/interrupts.h"
#include "cpu/solvers/knapsack/branches/branches.h"
#include "cpu/solvers/knapsack/core.h"
#include "cpu/solvers/knapsack/counting.h"
#include "cpu/solvers/knapsack/items.h"
#include "cpu/solvers/knapsack/solve.h"
#include "cpu/solvers/knapsack/surrogate.h"
#include "cpu/solvers/knapsack/sweep.h"
#include "cpu/bindings/bindings.h"
#include "cpu/bindings/gil.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace mmp {

namespace {

template <class T>
using Array = nb::ndarray<T, nb::c_contig, nb::device::cpu>;
using Numbers = Array<const int64_t>;

constexpr int64_t kMaxTasks = 4096;

template <class Value>
bool sweep(const Numbers& profits, const Numbers& weights, const Numbers& starts,
           const std::vector<int64_t>& shape, int64_t first, int64_t last,
           const Array<const Value>& before, Array<Value> after, Array<Value> other,
           Array<uint64_t> decisions, double seconds, int threads) {
    WithoutGil released;
    ThreadTeam team(threads);
    return knapsack_sweep<Value>({profits.data(), weights.data(), starts.data(), shape}, first, last,
                                 before.data(), after.data(), other.data(),
                                 decisions.size() ? decisions.data() : nullptr,
                                 deadline_in(seconds), team);
}

int64_t trace(const Numbers& weights, const Numbers& starts, const std::vector<int64_t>& shape,
              int64_t first, int64_t last, const Array<const uint64_t>& decisions, int64_t state,
              Array<int64_t> choices) {
    return knapsack_trace({nullptr, weights.data(), starts.data(), shape}, first, last,
                          decisions.data(), state, choices.data());
}

// Solves many instances. Instance i has items offsets[i] to offsets[i + 1] - 1.
void cores(const Numbers& profits, const Numbers& weights, const Numbers& offsets,
           const Numbers& capacities, int64_t list, int64_t stored, const Numbers& work,
           double seconds, Array<uint8_t> outcomes, Array<int64_t> values, Array<uint8_t> take,
           int threads) {
    WithoutGil released;
    ThreadTeam team(threads);
    const Deadline deadline = deadline_in(seconds);
    const int64_t count = static_cast<int64_t>(capacities.size());
    const int64_t tasks = std::min(count, kMaxTasks);
    team.run(static_cast<uint32_t>(tasks), [&](uint32_t task) {
        for (int64_t i = count * task / tasks; i < count * (task + 1) / tasks; ++i) {
            const int64_t first = offsets.data()[i];
            outcomes.data()[i] = static_cast<uint8_t>(knapsack_core(
                profits.data() + first, weights.data() + first, offsets.data()[i + 1] - first,
                capacities.data()[i], {list, stored, work.data()[i], deadline}, values.data()[i],
                take.data() + first));
        }
    });
}

// Solves many instances with one constraint, for any optimal choice. Instance i has items
// offsets[i] to offsets[i + 1] - 1. `limits` holds the fields of SolveLimits that precede the
// deadline.
void solve(const Numbers& profits, const Numbers& weights, const Numbers& offsets,
           const Numbers& capacities, const std::vector<int64_t>& limits, double seconds,
           Array<uint8_t> outcomes, Array<int64_t> values, Array<int64_t> bounds,
           Array<uint8_t> take, int threads) {
    WithoutGil released;
    const SolveLimits each{limits.at(0), limits.at(1), limits.at(2),     limits.at(3),
                           limits.at(4), seconds < 0,  deadline_in(seconds)};
    const auto one = [&](int64_t i) {
        const int64_t first = offsets.data()[i];
        outcomes.data()[i] = static_cast<uint8_t>(knapsack_solve(
            profits.data() + first, weights.data() + first, offsets.data()[i + 1] - first,
            capacities.data()[i], each, values.data()[i], bounds.data()[i], take.data() + first));
    };
    const int64_t count = static_cast<int64_t>(capacities.size());
    const int64_t tasks = std::min(count, kMaxTasks);
    if (count == 1) return one(0);
    ThreadTeam team(threads);
    team.run(static_cast<uint32_t>(tasks), [&](uint32_t task) {
        for (int64_t i = count * task / tasks; i < count * (task + 1) / tasks; ++i) one(i);
    });
}

void order(const Numbers& profits, const Numbers& weights, int64_t capacity,
           Array<int64_t> stages) {
    order_around_break(profits.data(), weights.data(), static_cast<int64_t>(profits.size()),
                       capacity, stages.data());
}

// Returns the best value and the upper bound from all steps of the counting; `taken` receives the
// choice.
std::pair<int64_t, int64_t> bracket(const Numbers& profits, const Numbers& weights,
                                    int64_t capacity, bool slopes, Array<uint8_t> taken) {
    const size_t count = profits.size();
    CountedItems items;
    items.profits.assign(profits.data(), profits.data() + count);
    items.weights.assign(weights.data(), weights.data() + count);
    items.capacity = capacity;
    const int64_t all = std::accumulate(items.profits.begin(), items.profits.end(), int64_t{0});
    Counting search(items, Mask(count, 0), 0, all, kNoDeadline);
    search.run(slopes);
    std::copy_n(search.taken().data(), count, taken.data());
    return {search.value(), search.bound()};
}

// Returns the profit of the best choice that item fixing and surrogate relaxation find, and an
// upper bound of the profit; `taken` receives the choice.
std::pair<int64_t, int64_t> surrogate(const Numbers& profits, const Numbers& weights,
                                      int64_t capacity, int64_t work, Array<uint8_t> taken) {
    std::vector<uint8_t> base(profits.size());
    OpenItems open = open_items(profits.data(), weights.data(), profits.size(), capacity,
                                base.data(), taken.data());
    if (open.items.empty()) return {open.best * open.profit_unit, open.bound * open.profit_unit};
    const SurrogateAnswer answer =
        surrogate_bound(open, open.best - open.profit, open.bound - open.profit, work,
                        {INT64_MAX, INT64_MAX, kNoDeadline});
    if (!answer.taken.empty()) {
        std::copy(base.begin(), base.end(), taken.data());
        for (size_t i = 0; i < open.items.size(); ++i)
            taken.data()[open.items[i].place] = answer.taken[i];
    }
    return {(open.profit + answer.best) * open.profit_unit,
            (open.profit + answer.bound) * open.profit_unit};
}

// Solves whole problems, one thread per problem. Problem i has stages firsts[i] to firsts[i + 1] -
// 1 and shape shapes[i]; options are numbered across all problems. feasible[i] receives whether
// problem i has a solution.
void sweep_many(const Numbers& profits, const Numbers& weights, const Numbers& starts,
                const Numbers& firsts, const std::vector<std::vector<int64_t>>& shapes,
                bool exact_fill, Array<bool> feasible, Array<int64_t> values,
                Array<int64_t> choices, int threads) {
    WithoutGil released;
    ThreadTeam team(threads);
    const auto count = static_cast<int64_t>(shapes.size()), tasks = std::min(count, kMaxTasks);
    team.run(static_cast<uint32_t>(tasks), [&](uint32_t task) {
        ThreadTeam alone(1);
        std::vector<int64_t> rows;
        std::vector<uint64_t> decisions;
        for (int64_t i = count * task / tasks; i < count * (task + 1) / tasks; ++i) {
            const KnapsackStages stages{profits.data(), weights.data(), starts.data(), shapes[i]};
            const int64_t first = firsts.data()[i], last = firsts.data()[i + 1];
            const int64_t states = stages.states(), words = (states + 63) / 64;
            int64_t bits = 0;
            for (int64_t g = first; g < last; ++g)
                bits += decision_bits(starts.data()[g + 1] - starts.data()[g]);
            decisions.resize(bits * words);
            rows.assign(3 * states, 0);
            if (exact_fill) std::fill_n(rows.begin() + 1, states - 1, kNothing<int64_t>);
            knapsack_sweep<int64_t>(stages, first, last, rows.data(), rows.data() + states,
                                    rows.data() + 2 * states, decisions.data(),
                                    kNoDeadline, alone);
            const int64_t value = rows[first == last ? states - 1 : 2 * states - 1];
            feasible.data()[i] = value >= kNothing<int64_t> / 2;
            values.data()[i] = value;
            if (feasible.data()[i])
                knapsack_trace(stages, first, last, decisions.data(), states - 1, choices.data());
        }
    });
}

// Solves one problem by branch and bound. Returns whether the choice is proven optimal, its profit,
// an upper bound of the profit, and the number of nodes.
std::tuple<bool, int64_t, int64_t, int64_t> branches(const Numbers& profits, const Numbers& weights,
                                                     const Numbers& starts,
                                                     const std::vector<int64_t>& capacities,
                                                     bool exact_fill, int64_t known, int64_t work,
                                                     double seconds, Array<int64_t> choices) {
    WithoutGil released;
    const BranchProblem problem{profits.data(), weights.data(),
                                starts.data(),  static_cast<int64_t>(starts.size()) - 1,
                                capacities,     exact_fill};
    const BranchAnswer answer =
        knapsack_branches(problem, known, {work, deadline_in(seconds)}, choices.data());
    return {answer.proven, answer.value, answer.bound, answer.nodes};
}

}  // namespace

void register_knapsack(nb::module_& module) {
    module.def("knapsack_sweep", sweep<int32_t>, "profits"_a, "weights"_a, "starts"_a, "shape"_a,
               "first"_a, "last"_a, "before"_a, "after"_a, "other"_a, "decisions"_a, "seconds"_a,
               "threads"_a);
    module.def("knapsack_sweep", sweep<int64_t>, "profits"_a, "weights"_a, "starts"_a, "shape"_a,
               "first"_a, "last"_a, "before"_a, "after"_a, "other"_a, "decisions"_a, "seconds"_a,
               "threads"_a);
    module.def("knapsack_trace", trace, "weights"_a, "starts"_a, "shape"_a, "first"_a, "last"_a,
               "decisions"_a, "state"_a, "choices"_a);
    module.def("knapsack_sweep_many", sweep_many, "profits"_a, "weights"_a, "starts"_a, "firsts"_a,
               "shapes"_a, "exact_fill"_a, "feasible"_a, "values"_a, "choices"_a, "threads"_a);
    module.def("knapsack_branches", branches, "profits"_a, "weights"_a, "starts"_a, "capacities"_a,
               "exact_fill"_a, "known"_a, "work"_a, "seconds"_a, "choices"_a);
    module.def("knapsack_solve", solve, "profits"_a, "weights"_a, "offsets"_a, "capacities"_a,
               "limits"_a, "seconds"_a, "outcomes"_a, "values"_a, "bounds"_a, "take"_a,
               "threads"_a);
    module.def("knapsack_bracket", bracket, "profits"_a, "weights"_a, "capacity"_a, "slopes"_a,
               "taken"_a);
    module.def("knapsack_surrogate", surrogate, "profits"_a, "weights"_a, "capacity"_a, "work"_a,
               "taken"_a);
    module.def("knapsack_order", order, "profits"_a, "weights"_a, "capacity"_a, "stages"_a);
    module.def("knapsack_cores", cores, "profits"_a, "weights"_a, "offsets"_a, "capacities"_a,
               "list"_a, "stored"_a, "work"_a, "seconds"_a, "outcomes"_a, "values"_a, "take"_a,
               "threads"_a);
}

}  // namespace mmp
