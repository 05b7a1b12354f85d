#include "cpu/solvers/knapsack/core.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include "cpu/runtime/interrupts.h"

namespace mmp {

namespace {

__extension__ typedef __int128 Int128;

struct Item {
    int64_t profit, weight;
};

struct State {
    int64_t profit, weight;
};

// A state that knows which of the items that joined the core changed it.
struct TrackedState : State {
    uint64_t changes = 0;  // bit by bit; the last one is for all items beyond the others
};

constexpr int64_t kTracked = 63;

void change(State& state, const Item& item, int64_t) {
    state.profit += item.profit;
    state.weight += item.weight;
}

void change(TrackedState& state, const Item& item, int64_t number) {
    change(static_cast<State&>(state), item, number);
    state.changes |= uint64_t{1} << std::min(number, kTracked);
}

using List = std::vector<State>;

// Joins the states with the same states changed by an item, both in order of weight, and leaves out
// those that are dominated or that `keep` refuses. `number` is that of the item.
template <class S, class Keep>
void join(const std::vector<S>& states, const Item& item, int64_t number, std::vector<S>& out,
          const Keep& keep) {
    out.clear();
    const size_t count = states.size();
    size_t plain = 0, changed = 0;
    int64_t most = INT64_MIN;
    while (plain < count || changed < count) {
        S next;
        const int64_t plain_weight = plain < count ? states[plain].weight : INT64_MAX;
        const int64_t changed_weight =
            changed < count ? states[changed].weight + item.weight : INT64_MAX;
        if (plain_weight <= changed_weight)
            next = states[plain++];
        else
            change(next = states[changed++], item, number);
        if (next.profit <= most || !keep(next)) continue;
        most = next.profit;
        if (!out.empty() && out.back().weight == next.weight) out.pop_back();
        out.push_back(next);
    }
}

// Wide holds products of profits and weights.
template <class Wide>
class Core {
public:
    Core(const int64_t* profits, const int64_t* weights, int64_t count, int64_t capacity,
         const CoreLimits& limits)
        : count_(count), capacity_(capacity), limits_(limits) {
        for (int64_t stage = 0; stage < count; ++stage)
            items_.push_back({profits[stage], weights[stage]});
        sort();
        find_break();
        price_ = items_[break_];
        top_ = Wide{break_profit_} * price_.weight +
               Wide{capacity_ - break_weight_} * price_.profit;
        find_greedy();
    }

    int64_t value() const { return best_; }

    // Whether `value` is proven to be the best. `take` gets the best choice that is known.
    bool find_value(uint8_t* take) {
        const bool proven = expand<TrackedState>();
        if (best_changes_) {
            best_taken_ = break_solution();
            for (size_t i = 0; i < joined_.size() && i < kTracked; ++i)
                best_taken_[joined_[i]] ^= best_changes_ >> i & 1;
        }
        write(best_taken_, take);
        return proven;
    }

    // Whether the choice is found; `value` is proven.
    bool find_choice(uint8_t* take) {
        if (!expand<State>()) return false;
        std::vector<uint8_t> taken = break_solution();
        int64_t room = capacity_, profit = best_;
        while (!steps_.empty()) {
            const Step& step = steps_.back();
            const Item item = items_[step.place];
            const bool added = step.place >= break_;
            // Left out where the states in front of the item give as much without it.
            const int64_t without = added ? 0 : 1;
            const bool leave = most_profit(step.before, room + without * item.weight) ==
                               profit + without * item.profit;
            if (leave && !added) room += item.weight, profit += item.profit;
            if (!leave && added) room -= item.weight, profit -= item.profit;
            taken[step.place] = !leave;
            steps_.pop_back();
        }
        write(taken, take);
        return true;
    }

private:
    // An item that joined the core, and the states in front of it.
    struct Step {
        int64_t place;
        List before;
    };

    // By falling profit per weight. Which of equal items is which is told by their stages.
    void sort() {
        std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
            const Wide left = Wide{a.profit} * b.weight, right = Wide{b.profit} * a.weight;
            return left != right ? left > right : a.weight < b.weight;
        });
    }

    // Takes items while they fit; the first that does not is the break item, whose profit per
    // weight is the price.
    void find_break() {
        while (break_weight_ + items_[break_].weight <= capacity_) {
            break_weight_ += items_[break_].weight;
            break_profit_ += items_[break_++].profit;
        }
    }

    // What fits beside the break solution gives a value to begin with.
    void find_greedy() {
        int64_t room = capacity_ - break_weight_;
        best_ = break_profit_;
        best_taken_ = break_solution();
        for (int64_t i = break_; i < count_; ++i) {
            if (items_[i].weight > room) continue;
            room -= items_[i].weight;
            best_ += items_[i].profit;
            best_taken_[i] = 1;
        }
    }

    // What is taken at each place.
    std::vector<uint8_t> break_solution() const {
        std::vector<uint8_t> taken(count_);
        std::fill_n(taken.begin(), break_, uint8_t{1});
        return taken;
    }

    // From places to stages.
    void write(const std::vector<uint8_t>& taken, uint8_t* take) const {
        int64_t left = break_, right = break_;
        for (int64_t stage = 0; stage < count_; ++stage)
            take[stage] = taken[next_place(stage, left, right)];
    }

    // Place of a stage: the break item, then in turn one in front of it and one behind. The stages
    // so far lie from `left` to `right` - 1.
    int64_t next_place(int64_t stage, int64_t& left, int64_t& right) const {
        const bool behind = stage == 0 || left == 0 || (stage % 2 == 0 && right < count_);
        return behind ? right++ : --left;
    }

    // States of a core that grows by one stage after the other. Without tracks those that may lead
    // to the value already found are kept, and what is needed to trace it back.
    template <class S>
    bool expand() {
        constexpr bool ties = std::is_same_v<S, State>;
        std::vector<S> states(1);
        states[0].profit = break_profit_;
        states[0].weight = break_weight_;
        int64_t left = break_, right = break_, work = 0;
        joined_.clear();
        for (int64_t stage = 0; stage < count_ && !states.empty(); ++stage) {
            stop_if_interrupted();
            const int64_t place = next_place(stage, left, right);
            const int64_t wanted = best_ + !ties;
            if (hopeless(items_[place], wanted)) continue;
            const int64_t sign = place < break_ ? -1 : 1;
            const Item item{sign * items_[place].profit, sign * items_[place].weight};
            std::vector<S> next;
            join(states, item, static_cast<int64_t>(joined_.size()), next, [&](const S& state) {
                note(state);
                return promising(state, left, right, ties);
            });
            joined_.push_back(place);
            work += static_cast<int64_t>(next.size());
            if constexpr (ties) steps_.push_back({place, std::move(states)});
            states = std::move(next);
            if (static_cast<int64_t>(states.size()) > limits_.list ||
                work > limits_.work || (ties && work > limits_.stored) ||
                std::chrono::steady_clock::now() > limits_.deadline)
                return false;
        }
        return true;
    }

    void note(const State&) {}

    // Keeps the changes of the best state that are known.
    void note(const TrackedState& state) {
        if (state.weight <= capacity_ && state.profit > best_ && !(state.changes >> kTracked))
            best_changes_ = state.changes;
    }

    // Whether less than `wanted` is left with the item on the other side than in the break
    // solution.
    bool hopeless(const Item& item, int64_t wanted) const {
        const Wide gain = Wide{item.profit} * price_.weight - Wide{item.weight} * price_.profit;
        return top_ - (gain > 0 ? gain : -gain) < Wide{wanted} * price_.weight;
    }

    // Whether enough profit may come from a state, with the next items to add or to remove.
    bool promising(const State& state, int64_t left, int64_t right, bool ties) {
        if (state.weight <= capacity_) {
            best_ = std::max(best_, state.profit);
            const int64_t missing = best_ + !ties - state.profit;
            if (missing <= 0) return true;
            return right < count_ && Wide{capacity_ - state.weight} * items_[right].profit >=
                                         Wide{missing} * items_[right].weight;
        }
        const int64_t spare = state.profit - best_ - !ties;
        return left > 0 && Wide{spare} * items_[left - 1].weight >=
                               Wide{state.weight - capacity_} * items_[left - 1].profit;
    }

    static int64_t most_profit(const List& states, int64_t room) {
        const auto behind =
            std::upper_bound(states.begin(), states.end(), room,
                             [](int64_t w, const State& state) { return w < state.weight; });
        return behind == states.begin() ? INT64_MIN : behind[-1].profit;
    }

    const int64_t count_, capacity_;
    const CoreLimits limits_;
    std::vector<Item> items_;
    std::vector<Step> steps_;
    std::vector<int64_t> joined_;      // places of the items of the core
    std::vector<uint8_t> best_taken_;  // of a good choice
    uint64_t best_changes_ = 0;
    int64_t break_ = 0, break_profit_ = 0, break_weight_ = 0;
    Item price_{};
    Wide top_ = 0;  // the bound, times the weight of the break item
    int64_t best_ = 0;
};

template <class Wide>
CoreOutcome solve(const int64_t* profits, const int64_t* weights, int64_t count, int64_t capacity,
                  const CoreLimits& limits, int64_t& value, uint8_t* take) {
    Core<Wide> core(profits, weights, count, capacity, limits);
    const bool proven = core.find_value(take);
    const bool found = proven && core.find_choice(take);
    value = core.value();
    return found ? CoreOutcome::kChoice : proven ? CoreOutcome::kValue : CoreOutcome::kNothing;
}

}  // namespace

CoreOutcome knapsack_core(const int64_t* profits, const int64_t* weights, int64_t count,
                          int64_t capacity, const CoreLimits& limits, int64_t& value,
                          uint8_t* take) {
    uint64_t all_profits = 0, heaviest = 0, most = 0;
    for (int64_t i = 0; i < count; ++i) {
        all_profits += profits[i];
        heaviest = std::max<uint64_t>(heaviest, weights[i]);
        most = std::max<uint64_t>(most, profits[i]);
    }
    const int bits = std::max(std::bit_width(all_profits) + std::bit_width(heaviest),
                              std::bit_width(static_cast<uint64_t>(capacity) + heaviest) +
                                  std::bit_width(most));
    // Three such products are added up.
    const auto solver = bits <= 60 ? solve<int64_t> : solve<Int128>;
    return solver(profits, weights, count, capacity, limits, value, take);
}

}  // namespace mmp
