#include "knapsack_core.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

namespace mmp {

namespace {

__extension__ typedef __int128 Int128;

struct Item {
    int64_t profit, weight;
};

struct State {
    int64_t profit, weight;
};

using List = std::vector<State>;

// Joins the states with the same states changed by an item, both in order of weight, and leaves out
// those that are dominated or that `keep` refuses.
template <class Keep>
void join(const List& states, int64_t profit, int64_t weight, List& out, const Keep& keep) {
    out.clear();
    const size_t count = states.size();
    size_t plain = 0, changed = 0;
    int64_t most = INT64_MIN;
    while (plain < count || changed < count) {
        State next;
        const int64_t plain_weight = plain < count ? states[plain].weight : INT64_MAX;
        const int64_t changed_weight =
            changed < count ? states[changed].weight + weight : INT64_MAX;
        if (plain_weight <= changed_weight)
            next = states[plain++];
        else
            next = {states[changed].profit + profit, states[changed].weight + weight}, ++changed;
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
        : profits_(profits), weights_(weights), count_(count), capacity_(capacity), limits_(limits) {
        sort();
        find_break();
    }

    int64_t value() const { return best_; }

    // Whether `value` is proven to be the best.
    bool find_value() {
        List states{{break_profit_, break_weight_}}, next;
        int64_t left = break_, right = break_, work = 0;  // the core is left to right - 1
        for (bool to_right = true; !states.empty(); to_right = !to_right) {
            while (right < count_ && hopeless(right)) ++right;
            while (left > 0 && hopeless(left - 1)) --left;
            if (right == count_ && left == 0) break;
            if (right == count_) to_right = false;
            if (left == 0) to_right = true;
            const Item item = to_right ? items_[right++] : items_[--left];
            const auto keep = [&](const State& state) { return promising(state, left, right); };
            const int64_t sign = to_right ? 1 : -1;
            join(states, sign * item.profit, sign * item.weight, next, keep);
            states.swap(next);
            work += static_cast<int64_t>(states.size());
            if (static_cast<int64_t>(states.size()) > limits_.list || work > limits_.work ||
                std::chrono::steady_clock::now() > limits_.deadline)
                return false;
        }
        return true;
    }

    // Whether the choice is found.
    bool find_choice(uint8_t* take) {
        // Items on the wrong side of the break item that would cost too much are settled.
        std::vector<int64_t> open;
        int64_t room = capacity_, wanted = best_;
        for (int64_t i = 0; i < count_; ++i) {
            const Wide gain = gain_of(profits_[i], weights_[i]);
            take[i] = gain > 0;
            if (top_ - (gain > 0 ? gain : -gain) >= Wide{best_} * price_weight_) {
                open.push_back(i);
            } else if (take[i]) {
                room -= weights_[i];
                wanted -= profits_[i];
            }
        }
        Wide to_come = 0;
        for (const int64_t i : open) to_come += std::max<Wide>(0, gain_of(profits_[i], weights_[i]));
        std::vector<List> lists{{{0, 0}}};
        int64_t stored = 0;
        for (const int64_t i : open) {
            to_come -= std::max<Wide>(0, gain_of(profits_[i], weights_[i]));
            const Wide needed = Wide{wanted} * price_weight_ - Wide{room} * price_profit_ - to_come;
            List next;
            join(lists.back(), profits_[i], weights_[i], next, [&](const State& state) {
                return state.weight <= room && gain_of(state.profit, state.weight) >= needed;
            });
            next.shrink_to_fit();
            lists.push_back(std::move(next));
            stored += static_cast<int64_t>(lists.back().size());
            if (static_cast<int64_t>(lists.back().size()) > limits_.list ||
                stored > limits_.stored || std::chrono::steady_clock::now() > limits_.deadline)
                return false;
        }
        int64_t profit = lists.back().back().profit;
        best_ += profit - wanted;
        for (size_t j = open.size(); j-- > 0;) {
            const List& before = lists[j];
            const auto behind =
                std::upper_bound(before.begin(), before.end(), room,
                                 [](int64_t w, const State& state) { return w < state.weight; });
            const bool leave = behind != before.begin() && behind[-1].profit == profit;
            take[open[j]] = !leave;
            if (leave) continue;
            profit -= profits_[open[j]];
            room -= weights_[open[j]];
        }
        return true;
    }

private:
    // By falling profit per weight.
    void sort() {
        std::vector<int64_t> order(count_);
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
            const Wide left = Wide{profits_[a]} * weights_[b], right = Wide{profits_[b]} * weights_[a];
            return left != right ? left > right : a < b;
        });
        for (const int64_t i : order) items_.push_back({profits_[i], weights_[i]});
    }

    // Takes items while they fit; the first that does not is the break item, whose profit per
    // weight is the price. Then what fits beside gives a value to begin with.
    void find_break() {
        while (break_weight_ + items_[break_].weight <= capacity_) {
            break_weight_ += items_[break_].weight;
            break_profit_ += items_[break_++].profit;
        }
        price_profit_ = items_[break_].profit;
        price_weight_ = items_[break_].weight;
        top_ = gain_of(break_profit_, break_weight_) + Wide{capacity_} * price_profit_;
        int64_t room = capacity_ - break_weight_;
        best_ = break_profit_;
        for (int64_t i = break_; i < count_; ++i) {
            if (items_[i].weight > room) continue;
            room -= items_[i].weight;
            best_ += items_[i].profit;
        }
    }

    // Profit less price, times the break item's weight.
    Wide gain_of(int64_t profit, int64_t weight) const {
        return Wide{profit} * price_weight_ - Wide{weight} * price_profit_;
    }

    // Whether nothing better is found with the item on the other side than in the break solution.
    bool hopeless(int64_t place) const {
        const Wide gain = gain_of(items_[place].profit, items_[place].weight);
        return top_ - (gain > 0 ? gain : -gain) < Wide{best_ + 1} * price_weight_;
    }

    // Whether a better value may come from a state, with the next items to add or to remove.
    bool promising(const State& state, int64_t left, int64_t right) {
        if (state.weight <= capacity_) {
            best_ = std::max(best_, state.profit);
            return right < count_ && Wide{capacity_ - state.weight} * items_[right].profit >=
                                         Wide{best_ + 1 - state.profit} * items_[right].weight;
        }
        return left > 0 && Wide{state.profit - best_ - 1} * items_[left - 1].weight >=
                               Wide{state.weight - capacity_} * items_[left - 1].profit;
    }

    const int64_t *profits_, *weights_;
    const int64_t count_, capacity_;
    const CoreLimits limits_;
    std::vector<Item> items_;
    int64_t break_ = 0, break_profit_ = 0, break_weight_ = 0;
    int64_t price_profit_ = 0, price_weight_ = 0;
    Wide top_ = 0;  // the bound, times the break item's weight
    int64_t best_ = 0;
};

template <class Wide>
bool solve(const int64_t* profits, const int64_t* weights, int64_t count, int64_t capacity,
           const CoreLimits& limits, int64_t& value, uint8_t* take) {
    Core<Wide> core(profits, weights, count, capacity, limits);
    const bool found = core.find_value() && core.find_choice(take);
    value = core.value();
    return found;
}

}  // namespace

bool knapsack_core(const int64_t* profits, const int64_t* weights, int64_t count, int64_t capacity,
                   const CoreLimits& limits, int64_t& value, uint8_t* take) {
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
