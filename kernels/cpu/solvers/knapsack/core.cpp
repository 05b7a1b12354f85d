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

// A state that records which items of the core differ from the break solution.
struct TrackedState : State {
    uint64_t changes = 0;  // bit i: item i of the core; bit 63: any later item
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

// Merges the states with their copies in which `item` is changed; both lists are sorted by weight.
// Drops states that are dominated or that `keep` rejects. `number` is the number of the item in the
// core.
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

// Wide is an integer type for sums of products of profits and weights.
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

    // First pass: searches for the best value. Returns whether `value` is proven; `take` receives
    // the best known choice.
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

    // Second pass: searches for the first-ranked choice of the proven value; returns whether it is
    // found.
    bool find_choice(uint8_t* take) {
        if (!expand<State>()) return false;
        std::vector<uint8_t> taken = break_solution();
        int64_t room = capacity_, profit = best_;
        while (!steps_.empty()) {
            const Step& step = steps_.back();
            const Item item = items_[step.place];
            const bool added = step.place >= break_;
            // The item is left out if the earlier states reach the same profit without it.
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
    // An item of the core, with the states before the item joined.
    struct Step {
        int64_t place;
        List before;
    };

    // Sorts by decreasing profit per weight, then increasing weight. Equal items may have any order
    // here, because their stages distinguish them.
    void sort() {
        std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
            const Wide left = Wide{a.profit} * b.weight, right = Wide{b.profit} * a.weight;
            return left != right ? left > right : a.weight < b.weight;
        });
    }

    // Takes items greedily until one does not fit: the break item. Its profit per weight is the
    // Lagrangian price.
    void find_break() {
        while (break_weight_ + items_[break_].weight <= capacity_) {
            break_weight_ += items_[break_].weight;
            break_profit_ += items_[break_++].profit;
        }
    }

    // Adds later items that fit to the break solution, which gives a first value.
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

    // Returns, by position, whether the break solution takes the item.
    std::vector<uint8_t> break_solution() const {
        std::vector<uint8_t> taken(count_);
        std::fill_n(taken.begin(), break_, uint8_t{1});
        return taken;
    }

    // Converts a choice from positions to stages.
    void write(const std::vector<uint8_t>& taken, uint8_t* take) const {
        int64_t left = break_, right = break_;
        for (int64_t stage = 0; stage < count_; ++stage)
            take[stage] = taken[next_place(stage, left, right)];
    }

    // Returns the position of a stage's item. Stages alternate outwards: the break item, then the
    // next item before it, the next item after it, and so on. Earlier stages have the positions
    // `left` to `right` - 1.
    int64_t next_place(int64_t stage, int64_t& left, int64_t& right) const {
        const bool behind = stage == 0 || left == 0 || (stage % 2 == 0 && right < count_);
        return behind ? right++ : --left;
    }

    // Grows the core stage by stage and makes its states; returns whether it stayed within all
    // limits. With S = State, it keeps every state that may reach the known best value, and the
    // steps needed to trace the choice.
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

    // Stores the changes of a new best state if all of them are tracked.
    void note(const TrackedState& state) {
        if (state.weight <= capacity_ && state.profit > best_ && !(state.changes >> kTracked))
            best_changes_ = state.changes;
    }

    // Returns whether changing the item from the break solution gives a bound below `wanted`.
    bool hopeless(const Item& item, int64_t wanted) const {
        const Wide gain = Wide{item.profit} * price_.weight - Wide{item.weight} * price_.profit;
        return top_ - (gain > 0 ? gain : -gain) < Wide{wanted} * price_.weight;
    }

    // Returns whether the bound of a state exceeds the best value or, with `ties`, reaches it. The
    // bound fills or frees capacity with fractions of the next item. Raises the best value if the
    // state fits.
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
    std::vector<int64_t> joined_;      // positions of the items of the core
    std::vector<uint8_t> best_taken_;  // best known choice, by position
    uint64_t best_changes_ = 0;
    int64_t break_ = 0, break_profit_ = 0, break_weight_ = 0;
    Item price_{};
    Wide top_ = 0;  // upper bound of profit * weight of the break item
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
    // At most three of these products are added.
    const auto solver = bits <= 60 ? solve<int64_t> : solve<Int128>;
    return solver(profits, weights, count, capacity, limits, value, take);
}

}  // namespace mmp
