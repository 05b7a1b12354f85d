// Dynamic programming with lists of states over a core of open items, for the 0-1 knapsack with one
// constraint.
//
// A list holds the undominated states of a core that grows from the break item, sorted by weight.
// Items outside the core are as in the break solution. A state is dropped if its bound does not
// exceed the best value. Profits and weights are relative to the break solution. A state holds the
// changes of the last 32 items of the core; earlier changes are shared in a log, so one pass finds
// both the value and its choice. Sources: D. Pisinger, "A minimal algorithm for the 0-1 knapsack
// problem", Operations Research 1997; pairs of states and items: S. Martello, D. Pisinger and P.
// Toth, "Dynamic programming and strong bounds for the 0-1 knapsack problem", Management Science
// 1999.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "cpu/runtime/interrupts.h"
#include "cpu/solvers/knapsack/items.h"

namespace mmp {

struct ListLimits {
    int64_t list;    // limit of states per list
    int64_t stored;  // limit of states in the log
    std::chrono::steady_clock::time_point deadline;
};

// A log entry: the changes of one state in a part of kPart items, linked to the state's entry for
// the part before.
struct LoggedChanges {
    uint32_t changes;  // bit i: item i of the part is changed
    uint32_t before;   // index of the log entry of the part before
};

// Wide is an integer type for sums of products of relative profits and weights.
template <class Wide>
class Lists {
public:
    Lists(OpenItems& open, const ListLimits& limits)
        : order_(open), items_(open.items), limits_(limits), break_(open.break_item),
          room_(open.room), best_(open.best - open.profit), top_(open.bound - open.profit),
          left_(break_), right_(break_), price_(items_[break_]) {
        resize(1);
        states()[0] = {0, 0, 0, 0};
        count_ = 1;
    }

    int64_t best() const { return best_; }  // best known profit, relative to the break solution

    // Upper bound of the profit, relative to the break solution.
    int64_t bound() const { return done() ? best_ : top_; }

    // Whether `best` is proven optimal.
    bool done() const {
        return best_ >= top_ || (!stopped_ && (count_ == 0 || joined_all()));
    }

    // Takes over a better known profit and a lower upper bound.
    void learn(int64_t best, int64_t top) {
        if (best > best_) best_ = best, found_ = false;
        top_ = std::min(top_, top);
    }

    // Grows the core until the search is done, `work` states are made, or a limit is exceeded;
    // returns whether it is done.
    bool run(int64_t work) {
        if (stopped_) return false;
        while (!done()) {
            stop_if_interrupted();
            if (!sort_further()) break;
            const int64_t place = next_place();
            if (hopeless(items_[place]) || repeats_in_vain(place)) continue;
            stopped_ = !join(place);
            if (stopped_) return false;
            if (count_ >= pairing_) pair_up();
            work -= count_;
            if (done()) return true;
            if (work < 0 || count_ > limits_.list ||
                static_cast<int64_t>(log_.size()) > limits_.stored ||
                std::chrono::steady_clock::now() > limits_.deadline)
                return false;
        }
        return true;
    }

    // Writes flags of the changed open items of the best choice, if this search found it.
    bool changes(std::vector<uint8_t>& changed) const {
        if (!found_) return false;
        changed.assign(items_.size(), 0);
        uint32_t bits = best_state_.changes, before = best_state_.before;
        for (int64_t part = best_part_; part >= 0; --part) {
            for (int64_t i = 0; i < kPart && part * kPart + i < size(joined_); ++i)
                changed[joined_[part * kPart + i]] = bits >> i & 1;
            if (part == 0) break;
            bits = log_[before].changes;
            before = log_[before].before;
        }
        if (best_extra_ >= 0) {
            const auto extra =
                std::find_if(items_.begin(), items_.end(), [&](const KnapsackItem& item) {
                    return item.place == best_extra_;
                });
            changed[extra - items_.begin()] ^= 1;
        }
        return true;
    }

private:
    struct State {
        int64_t profit, weight;
        uint32_t changes, before;
    };

    // Bound test: a state is kept if profit * by_profit - weight * by_weight >= least.
    struct Test {
        Wide by_profit, by_weight, least;
    };

    static constexpr int64_t kPart = 32;          // items per part of the changes
    static constexpr int64_t kEnd = int64_t{1} << 62;
    static constexpr int64_t kSteps = 1 << 18;    // steps between two checks of the deadline
    static constexpr int64_t kFirstPairing = 256;  // states in the list before pair_up() first runs

    template <class T>
    static int64_t size(const std::vector<T>& values) {
        return static_cast<int64_t>(values.size());
    }

    bool none_before() const { return left_ == order_.sorted_first; }
    bool none_behind() const { return right_ == order_.sorted_last; }
    bool joined_all() const {
        return none_before() && none_behind() && order_.before.empty() && order_.behind.empty();
    }

    // Sorts more items on a side that has no sorted ones left. Returns whether any item is left.
    bool sort_further() {
        const auto open = [&](const KnapsackItem& item) { return !hopeless(item); };
        if (none_before()) order_.template sort_before<Wide>(open);
        if (none_behind()) order_.template sort_behind<Wide>(open);
        return !joined_all();
    }

    // Returns the position of the next item: the break item, then alternately the next item before
    // it and the next item after it.
    int64_t next_place() {
        const bool behind =
            none_before() || (!none_behind() && right_ - break_ <= break_ - left_);
        return behind ? right_++ : --left_;
    }

    // Returns whether changing the item gives a bound that does not exceed the best value.
    bool hopeless(const KnapsackItem& item) const {
        const Wide gain = Wide{item.profit} * price_.weight - Wide{item.weight} * price_.profit;
        return Wide{room_} * price_.profit - (gain > 0 ? gain : -gain) <
               Wide{best_ + 1} * price_.weight;
    }

    // Test of states that fit: they can gain at most their free capacity times the profit per
    // weight of the next item.
    Test of_fitting() const {
        if (none_behind()) return {1, 0, Wide{best_} + 1};
        const KnapsackItem& next = items_[right_];
        return {next.weight, next.profit,
                Wide{best_ + 1} * next.weight - Wide{room_} * next.profit};
    }

    // Test of states that exceed the capacity: they lose at least their excess times the profit per
    // weight of the next item on the other side.
    Test of_heavy() const {
        if (none_before()) return {0, 1, -Wide{room_}};
        const KnapsackItem& next = items_[left_ - 1];
        return {next.weight, next.profit,
                Wide{best_ + 1} * next.weight - Wide{room_} * next.profit};
    }

    // The last item that joined the core on a side, and whether every state with it changed was
    // dropped.
    struct Joined {
        int64_t profit = 0, weight = 0;
        bool in_vain = false;
        int64_t number = 0;  // number of the item in the core
    };

    Joined& side(int64_t place) { return sides_[place >= break_]; }

    bool equals_last(int64_t place) {
        const Joined& last = side(place);
        return items_[place].profit == last.profit && items_[place].weight == last.weight;
    }

    // Returns whether the item equals the last one of its side, and that one joined in vain. More
    // changes do not save a dominated or dropped state, so this item joins in vain too.
    bool repeats_in_vain(int64_t place) { return side(place).in_vain && equals_last(place); }

    // Returns the change bit of the last equal item of the side, if it is in the same part, else 0
    // (symmetry breaking). Only states with that item changed need the next one: a state with only
    // the next one changed equals a state with only the last one changed, which is already in the
    // list, dominated or dropped.
    uint32_t bit_of_equal(int64_t place, int64_t number) {
        const int64_t last = side(place).number;
        if (!equals_last(place) || last / kPart != number / kPart) return 0;
        return uint32_t{1} << last % kPart;
    }

    State* states() { return store_.get() + 1; }

    void resize(int64_t least) {
        if (least + 2 <= room_of_store_) return;
        room_of_store_ = 2 * least + 2;
        store_ = std::make_unique_for_overwrite<State[]>(room_of_store_);
    }

    // Starts a new part: the log receives the changes of all states.
    void start_part() {
        State* some = states();
        const auto first = static_cast<uint32_t>(log_.size());
        for (int64_t i = 0; i < count_; ++i) {
            log_.push_back({some[i].changes, some[i].before});
            some[i].changes = 0;
            some[i].before = first + static_cast<uint32_t>(i);
        }
    }

    // Stores the best state, and the caller's index of one additional item, or -1.
    void note(const State& state, int64_t extra) {
        found_ = true;
        best_state_ = state;
        best_part_ = std::max<int64_t>(size(joined_) - 1, 0) / kPart;
        best_extra_ = extra;
    }

    // Merges the states with their copies in which an item is changed; returns false if the time
    // ran out.
    bool join(int64_t place) {
        const int64_t number = size(joined_);
        if (number && number % kPart == 0) start_part();
        sort_further();  // the bound tests need the next item of both sides
        joined_.push_back(place);
        const int64_t sign = place < break_ ? -1 : 1;
        const int64_t profit = sign * items_[place].profit, weight = sign * items_[place].weight;
        const uint32_t bit = uint32_t{1} << number % kPart;
        const uint32_t needed = bit_of_equal(place, number);
        std::unique_ptr<State[]> before = std::move(store_);
        const int64_t before_room = room_of_store_;
        store_ = std::move(other_);
        std::swap(room_of_store_, other_room_);
        resize(2 * count_);
        const State* from = before.get() + 1;
        before[count_ + 1].weight = kEnd;
        State* out = states();
        const State* const end = from + count_;
        const State *plain = from, *changed = from;
        const auto skip = [&] {
            while (changed != end && (changed->changes & needed) != needed) ++changed;
        };
        skip();
        int64_t made = 0, last = -kEnd, most = -kEnd;
        bool heavy = false, in_time = true, fresh = false;
        Test test = of_fitting();
        while (plain != end || changed != end) {
            for (int64_t step = 0; step < kSteps && (plain != end || changed != end); ++step) {
                State next;
                const bool second = changed->weight + weight < plain->weight;
                if (second) {
                    next = *changed++;
                    next.profit += profit;
                    next.weight += weight;
                    next.changes |= bit;
                    skip();
                } else {
                    next = *plain++;
                }
                if (next.profit <= most) continue;
                if (next.weight > room_) [[unlikely]] {
                    if (!heavy) heavy = true, test = of_heavy();
                } else if (next.profit > best_) [[unlikely]] {
                    best_ = next.profit;
                    note(next, -1);
                    test = of_fitting();
                }
                if (Wide{next.profit} * test.by_profit - Wide{next.weight} * test.by_weight <
                    test.least)
                    continue;
                // Replaces a state of equal weight and less profit.
                made -= next.weight == last;
                out[made++] = next;
                most = next.profit;
                last = next.weight;
                fresh |= second;
            }
            if ((plain != end || changed != end) &&
                std::chrono::steady_clock::now() > limits_.deadline) {
                in_time = false;
                break;
            }
        }
        other_ = std::move(before);
        other_room_ = before_room;
        count_ = made;
        side(place) = {items_[place].profit, items_[place].weight, !fresh, number};
        return in_time;
    }

    // Looks for a better value: a state with one item outside the core changed.
    void pair_up() {
        pairing_ = 4 * count_;
        const State* some = states();
        const auto try_with = [&](int64_t place, int64_t sign) {
            const int64_t profit = sign * items_[place].profit;
            const int64_t limit = room_ - sign * items_[place].weight;
            const State* behind = std::upper_bound(
                some, some + count_, limit,
                [](int64_t most, const State& state) { return most < state.weight; });
            if (behind == some || behind[-1].profit + profit <= best_) return;
            best_ = behind[-1].profit + profit;
            note(behind[-1], items_[place].place);
        };
        for (int64_t i = right_; i < size(items_); ++i) try_with(i, 1);
        for (int64_t i = left_ - 1; i >= 0; --i) try_with(i, -1);
    }

    ItemsInParts& order_;
    const std::vector<KnapsackItem>& items_;
    const ListLimits limits_;
    const int64_t break_, room_;
    int64_t best_, top_;
    int64_t left_, right_;  // the core has positions left_ to right_ - 1
    const KnapsackItem price_;
    std::unique_ptr<State[]> store_, other_;  // states begin at index 1
    int64_t room_of_store_ = 0, other_room_ = 0, count_ = 0, pairing_ = kFirstPairing;
    Joined sides_[2];              // before the break item; from it on
    std::vector<int64_t> joined_;  // positions of the items of the core
    std::vector<LoggedChanges> log_;
    State best_state_{};
    int64_t best_part_ = 0, best_extra_ = -1;
    bool found_ = false;    // whether `best_state_` has the best known profit
    bool stopped_ = false;  // whether the time ran out during a join
};

}  // namespace mmp
