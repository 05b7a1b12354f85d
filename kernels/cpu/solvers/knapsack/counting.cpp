#include "cpu/solvers/knapsack/counting.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "cpu/runtime/interrupts.h"

namespace mmp {

namespace {

__extension__ typedef __int128 Int128;

constexpr int kSumBits = 60, kMaxShift = 40;
constexpr int64_t kMaxProfits = (int64_t{1} << 61) - 1;
constexpr int64_t kWidths[] = {1 << 10, 1 << 14, 1 << 18};
constexpr int64_t kFewStates = 1 << 12, kStates = 1 << 22, kLeastStates = 1 << 5;
constexpr int kExchanges = 16, kForced = 256;
constexpr size_t kRests = 8;
constexpr int64_t kNever = -(int64_t{1} << 62);

// Selects the items that maximise the sum of gains; among equal gains, the lightest.
class Gaining {
public:
    Gaining(const CountedItems& items, int64_t count, bool at_least)
        : items_(items), count_(count), at_least_(at_least), gains_(items.size()) {}

    // Sets the Lagrangian price of weight; profits are scaled by 2^shift.
    void set(int64_t price, int shift) {
        for (int64_t i = 0; i < items_.size(); ++i)
            gains_[i] = (items_.profits[i] << shift) - items_.weights[i] * price;
        sorted_ = gains_;
        std::nth_element(sorted_.begin(), sorted_.begin() + (count_ - 1), sorted_.end(),
                         std::greater<>());
        edge_ = sorted_[count_ - 1];
        free_ = (edge_ > 0) == at_least_;
        above_ = free_ ? 0 : edge_;
        weight_ = profit_ = 0;
        int64_t number = 0;
        equal_.clear();
        for (int64_t i = 0; i < items_.size(); ++i) {
            if (gains_[i] > above_)
                weight_ += items_.weights[i], profit_ += items_.profits[i], ++number;
            else if (!free_ && gains_[i] == above_)
                equal_.push_back(i);
        }
        if (free_) return;
        left_ = std::min<int64_t>(count_ - number, equal_.size());
        std::stable_sort(equal_.begin(), equal_.end(), [&](int64_t a, int64_t b) {
            return items_.weights[a] < items_.weights[b];
        });
        equal_.resize(left_);
        for (const int64_t i : equal_) weight_ += items_.weights[i], profit_ += items_.profits[i];
    }

    int64_t weight() const { return weight_; }
    int64_t profit() const { return profit_; }
    int64_t each() const { return free_ ? 0 : edge_; }  // Lagrangian price of the item count
    const std::vector<int64_t>& gains() const { return gains_; }

    Mask taken() const {
        Mask taken(gains_.size());
        for (size_t i = 0; i < taken.size(); ++i) taken[i] = gains_[i] > above_;
        if (!free_)
            for (const int64_t i : equal_) taken[i] = 1;
        return taken;
    }

private:
    const CountedItems& items_;
    const int64_t count_;
    const bool at_least_;
    std::vector<int64_t> gains_, sorted_, equal_;
    int64_t edge_ = 0, above_ = 0, weight_ = 0, profit_ = 0, left_ = 0;
    bool free_ = false;
};

// Bound in units of 2^-kMaxShift, so that bounds with different shifts are comparable.
Int128 total_of(const Priced& relaxed) {
    return Int128{relaxed.total} << (kMaxShift - relaxed.shift);
}

}  // namespace

Priced priced(const CountedItems& items, int64_t count, bool at_least) {
    const int64_t profits = std::reduce(items.profits.begin(), items.profits.end());
    const int64_t weights = std::reduce(items.weights.begin(), items.weights.end());
    const int bits = std::bit_width(static_cast<uint64_t>(profits));
    const int shift = std::clamp(kSumBits - 2 - bits, 0, kMaxShift);
    Gaining gaining(items, count, at_least);
    // Finds the lowest price at which the selected items fit. The bound is convex in the price, so
    // the search alternates between bisection and the intersection of two tangents.
    int64_t low = 0, high = (int64_t{1} << kSumBits) / std::max(items.capacity, weights);
    int64_t heavy = -1, heavy_profit = 0, light = -1, light_profit = 0;
    for (int round = 0; low < high; ++round) {
        int64_t price = low + (high - low) / 2;
        if (heavy > light && light >= 0 && round % 4) {
            const Int128 met = (Int128{heavy_profit - light_profit} << shift) / (heavy - light);
            price = static_cast<int64_t>(std::clamp<Int128>(met, low, high - 1));
        }
        gaining.set(price, shift);
        if (gaining.weight() <= items.capacity) {
            high = price;
            light = gaining.weight(), light_profit = gaining.profit();
        } else {
            low = price + 1;
            heavy = gaining.weight(), heavy_profit = gaining.profit();
        }
    }
    Priced found;
    found.shift = shift;
    gaining.set(low - 1, shift);
    found.heavier = gaining.taken();
    gaining.set(low, shift);
    found.taken = gaining.taken();
    found.total = items.capacity * low;
    found.losses.resize(items.size());
    for (int64_t i = 0; i < items.size(); ++i) {
        if (found.taken[i]) found.total += gaining.gains()[i];
        found.losses[i] = std::abs(gaining.gains()[i] - gaining.each());
    }
    return found;
}

Counting::Counting(const CountedItems& items, Mask taken, int64_t value, int64_t bound,
                   Clock::time_point deadline)
    : items_(items), deadline_(deadline), taken_(std::move(taken)), value_(value), bound_(bound) {
    const int64_t count = items.size();
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
        if (items.weights[a] != items.weights[b]) return items.weights[a] < items.weights[b];
        return items.profits[a] != items.profits[b] ? items.profits[a] > items.profits[b] : a < b;
    });
    lightest_.resize(count);
    int64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) lightest_[i] = sum += items.weights[order_[i]];
    most_profits_ = items.profits;
    std::sort(most_profits_.begin(), most_profits_.end(), std::greater<>());
    std::partial_sum(most_profits_.begin(), most_profits_.end(), most_profits_.begin());
    step_ = 0;
    for (const int64_t profit : items.profits)
        if (step_ != 1) step_ = std::gcd(step_, profit);
    step_ = std::max<int64_t>(step_, 1);
}

bool Counting::done() const {
    stop_if_interrupted();
    return value_ == bound_ || Clock::now() > deadline_;
}

bool Counting::narrow() {
    if (done()) return value_ == bound_;
    const Priced relaxed = relax();
    if (!done() && expand(relaxed, kWidths[0], kFewStates)) limit(value_);
    if (!done() && limit_by_slope() && !done()) {
        force_all();
        if (!done() && expand(relax(), kWidths[0], kStates)) limit(value_);
    }
    return value_ == bound_;
}

bool Counting::wide(int64_t most_work) {
    if (!done()) split({most_work < kStates ? kWidths[1] : kWidths[2]}, most_work);
    return value_ == bound_;
}

void Counting::force_all() {
    std::vector<Mask> starts{taken_};
    for (Mask& start : between(relax())) starts.push_back(std::move(start));
    for (const Mask& start : starts) force(start);
}

bool Counting::run(bool slopes) {
    const Mask all(items_.size(), 1);
    if (room(all) >= 0) offer(all);
    const bool rests = slopes && !done() && limit_by_slope();
    if (!done()) relax();
    if (rests && !done()) force_all();
    if (!done() && expand(relax(), kWidths[0], kStates)) limit(value_);
    if (!done()) split({kWidths[1], kWidths[2]}, kStates);
    return value_ == bound_;
}

int64_t Counting::value_of(const Mask& taken) const {
    int64_t value = 0;
    for (size_t i = 0; i < taken.size(); ++i) value += taken[i] ? items_.profits[i] : 0;
    return value;
}

int64_t Counting::room(const Mask& taken) const {
    int64_t left = items_.capacity;
    for (size_t i = 0; i < taken.size(); ++i) left -= taken[i] ? items_.weights[i] : 0;
    return left;
}

// Stores a choice if it fits and has more profit than the known one.
void Counting::offer(const Mask& taken) {
    const int64_t value = value_of(taken);
    if (value > value_ && room(taken) >= 0) taken_ = taken, value_ = value;
}

// Applies an upper bound of all choices better than the value, rounded down to a possible profit.
void Counting::limit(int64_t bound) {
    bound_ = std::max(value_, std::min(bound_, bound / step_ * step_));
}

void Counting::improve(const Mask& taken) { offer(exchanged(taken)); }

void Counting::improve_between(const Priced& relaxed) {
    for (const Mask& taken : between(relaxed)) improve(taken);
}

// Largest number of items that fit together.
int64_t Counting::most() const {
    return std::upper_bound(lightest_.begin(), lightest_.end(), items_.capacity) -
           lightest_.begin();
}

// Least number of items whose profit can exceed the value.
int64_t Counting::least() const {
    return std::upper_bound(most_profits_.begin(), most_profits_.end(), value_) -
           most_profits_.begin() + 1;
}

// Applies the bounds for at most most() and for at least least() items; returns the lower one.
Priced Counting::relax() {
    const int64_t most_items = most();
    Priced upper = priced(items_, most_items, false);
    limit(upper.total >> upper.shift);
    improve_between(upper);
    const int64_t least_items = least();
    if (least_items > most_items) {
        limit(value_);
        return upper;
    }
    Priced lower = priced(items_, least_items, true);
    limit(lower.total >> lower.shift);
    improve_between(lower);
    return total_of(lower) < total_of(upper) ? lower : upper;
}

// Bound of the choices with exactly `most` items, the largest number that fits. The capacity that
// the lightest items leave limits exchanges, so these choices contain every item that is too light
// for an exchange and no item that is too heavy for one.
Priced Counting::of_number(int64_t most) const {
    const int64_t size = items_.size(), spare = items_.capacity - lightest_[most - 1];
    const int64_t heaviest = items_.weights[order_[most - 1]];
    const int64_t next = most < size ? items_.weights[order_[most]] : INT64_MAX;
    Priced found;
    found.taken.assign(size, 0);
    found.losses.assign(size, -kNever);
    std::vector<int64_t> open;
    int64_t count = most;
    for (int64_t i = 0; i < size; ++i) {
        if (most < size && items_.weights[i] < next - spare)
            found.taken[i] = 1, --count;
        else if (items_.weights[i] <= heaviest + spare)
            open.push_back(i);
    }
    const int64_t kept = value_of(found.taken);
    found.heavier = found.taken;
    if (count == 0) {
        found.total = kept;
        return found;
    }
    CountedItems part;
    for (const int64_t i : open) {
        part.profits.push_back(items_.profits[i]);
        part.weights.push_back(items_.weights[i]);
    }
    part.capacity = room(found.taken);
    Priced relaxed = priced(part, count, false), other = priced(part, count, true);
    if (total_of(other) < total_of(relaxed)) relaxed = std::move(other);
    for (size_t k = 0; k < open.size(); ++k) {
        found.losses[open[k]] = relaxed.losses[k];
        found.taken[open[k]] = relaxed.taken[k];
        found.heavier[open[k]] = relaxed.heavier[k];
    }
    found.shift = relaxed.shift;
    found.total = relaxed.total + (kept << relaxed.shift);
    return found;
}

// The lower of two bounds of better choices with fewer than `count` items.
Priced Counting::below(int64_t count) const {
    Priced found = priced(items_, std::min(least(), most()), true);
    if (count > 1) {
        Priced other = priced(items_, count - 1, false);
        if (total_of(other) < total_of(found)) found = std::move(other);
    }
    return found;
}

// Applies the bound by slope and remainders; returns whether there are few different remainders.
bool Counting::limit_by_slope() {
    const int64_t count = items_.size();
    std::vector<int64_t> by_weight(count), slopes;
    std::iota(by_weight.begin(), by_weight.end(), 0);
    std::stable_sort(by_weight.begin(), by_weight.end(), [&](int64_t a, int64_t b) {
        return items_.weights[a] < items_.weights[b];
    });
    for (int64_t i = 1; i < count; ++i) {
        const int64_t a = by_weight[i - 1], b = by_weight[i];
        const Int128 run = 2 * Int128{items_.weights[b] - items_.weights[a]};
        if (run == 0) continue;
        const Int128 rise = 2 * Int128{items_.profits[b] - items_.profits[a]} + run / 2;
        slopes.push_back(static_cast<int64_t>(rise / run - (rise % run < 0)));
    }
    if (slopes.empty()) return false;
    std::nth_element(slopes.begin(), slopes.begin() + slopes.size() / 2, slopes.end());
    const int64_t slope = slopes[slopes.size() / 2];
    if (slope <= 0 || Int128{slope} * items_.weights[order_.back()] > kMaxProfits) return false;
    std::vector<int64_t> rests, some;
    CountedItems part;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t rest = items_.profits[i] - slope * items_.weights[i];
        if (std::find(rests.begin(), rests.end(), rest) == rests.end()) rests.push_back(rest);
        if (rests.size() > kRests) return false;
        if (rest <= 0) continue;
        some.push_back(i);
        part.profits.push_back(rest);
        part.weights.push_back(items_.weights[i]);
    }
    part.capacity = items_.capacity;
    int64_t bound = 0;
    Mask taken(count, 0);
    if (!some.empty()) {
        const int64_t all = std::reduce(part.profits.begin(), part.profits.end());
        Counting search(part, Mask(some.size(), 0), 0, all, deadline_);
        search.run(false);
        bound = search.bound();
        for (size_t k = 0; k < some.size(); ++k) taken[some[k]] = search.taken()[k];
    }
    const Int128 total = Int128{slope} * items_.capacity + bound;
    limit(static_cast<int64_t>(std::min<Int128>(total, INT64_MAX)));
    improve(taken);
    return true;
}

// Tries exchanges of two items that fill a part of the free capacity of `start`; improves each
// result.
void Counting::force(const Mask& start) {
    std::vector<int64_t> inside, outside;
    for (int64_t i = 0; i < items_.size(); ++i)
        if (start[i]) inside.push_back(i);
    for (const int64_t i : order_)
        if (!start[i]) outside.push_back(i);
    if (inside.empty()) return;
    std::stable_sort(outside.begin(), outside.end(), [&](int64_t a, int64_t b) {
        return items_.weights[a] != items_.weights[b] ? items_.weights[a] < items_.weights[b]
                                                      : a < b;
    });
    const int64_t space = room(start), size = static_cast<int64_t>(inside.size());
    for (int64_t number = 0; number < kForced && !done(); ++number) {
        const int64_t leaves = inside[number * size / kForced];
        const int64_t part = space * (1 + number % 7);
        const int64_t weight = items_.weights[leaves] + (part >= 0 ? part / 8 : -((7 - part) / 8));
        const auto place = std::upper_bound(
            outside.begin(), outside.end(), weight,
            [&](int64_t most, int64_t item) { return most < items_.weights[item]; });
        if (place == outside.begin()) continue;
        Mask taken = start;
        taken[leaves] ^= 1;
        taken[place[-1]] ^= 1;
        improve(taken);
    }
}

// Searches lists of at most `width` states, items in order of increasing loss; returns whether it
// is complete. After a complete search, no choice within the scope of `relaxed` is better than the
// value. Among states of equal profit and weight, it keeps the one with the most items.
bool Counting::expand(const Priced& relaxed, int64_t width, int64_t most_work) {
    struct State {
        int64_t weight, profit, loss;
        int32_t count;
        uint32_t origin;
    };
    struct Step {
        int64_t item;
        std::vector<uint32_t> origins;
    };
    offer(relaxed.taken);
    const auto slack_now = [&] {
        return relaxed.total - static_cast<int64_t>(
                                   std::min<Int128>(Int128{value_ + step_} << relaxed.shift,
                                                    int64_t{1} << 62));
    };
    int64_t slack = slack_now(), work = 0;
    std::vector<int64_t> order;
    for (int64_t i = 0; i < items_.size(); ++i)
        if (relaxed.losses[i] <= slack) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return relaxed.losses[a] != relaxed.losses[b] ? relaxed.losses[a] < relaxed.losses[b]
                                                      : a < b;
    });
    std::vector<State> states{
        {items_.capacity - room(relaxed.taken), value_of(relaxed.taken), 0, 0, 0}};
    std::vector<State> joined;
    std::vector<Step> steps;
    bool whole = true;
    for (const int64_t item : order) {
        const int64_t loss = relaxed.losses[item];
        if (loss > slack || states.empty()) break;
        if (work > most_work || Clock::now() > deadline_) {
            whole = false;
            break;
        }
        stop_if_interrupted();
        const int sign = relaxed.taken[item] ? -1 : 1;
        const int64_t weight = sign * items_.weights[item], profit = sign * items_.profits[item];
        const size_t count = states.size();
        joined.clear();
        size_t best = 2 * count;
        for (size_t plain = 0, changed = 0; plain < count || changed < count;) {
            if (changed == count ||
                (plain < count && states[plain].weight <= states[changed].weight + weight)) {
                joined.push_back(states[plain]);
                joined.back().origin = static_cast<uint32_t>(plain++);
            } else {
                const State& from = states[changed];
                joined.push_back({from.weight + weight, from.profit + profit, from.loss + loss,
                                  from.count + sign, static_cast<uint32_t>(count + changed)});
                ++changed;
            }
            const size_t last = joined.size() - 1;
            if (last && joined[last].weight == joined[last - 1].weight &&
                joined[last].profit == joined[last - 1].profit &&
                joined[last].count > joined[last - 1].count)
                std::swap(joined[last], joined[last - 1]);
            if (joined[last].weight <= items_.capacity &&
                (best == 2 * count || joined[last].profit > joined[best].profit))
                best = last;
        }
        if (best < 2 * count && joined[best].profit > value_) {
            Mask taken = relaxed.taken;
            size_t place = joined[best].origin, before = count;
            taken[item] ^= place >= before;
            place -= place >= before ? before : 0;
            for (size_t number = steps.size(); number-- > 0;) {
                before = number ? steps[number - 1].origins.size() : 1;
                place = steps[number].origins[place];
                taken[steps[number].item] ^= place >= before;
                place -= place >= before ? before : 0;
            }
            offer(taken);
            slack = slack_now();
        }
        states.clear();
        int64_t most = INT64_MIN;
        for (size_t k = 0; k < joined.size(); ++k) {
            const State& state = joined[k];
            const bool replaced = k + 1 < joined.size() && joined[k + 1].weight == state.weight &&
                                  joined[k + 1].profit > state.profit;
            if (state.loss <= slack && state.profit > most && !replaced) states.push_back(state);
            most = std::max(most, state.profit);
        }
        if (static_cast<int64_t>(states.size()) > width) {
            whole = false;
            std::vector<uint32_t> places(states.size());
            std::iota(places.begin(), places.end(), 0);
            std::nth_element(places.begin(), places.begin() + width, places.end(),
                             [&](uint32_t a, uint32_t b) {
                                 return states[a].loss != states[b].loss
                                            ? states[a].loss < states[b].loss
                                            : a < b;
                             });
            places.resize(width);
            std::sort(places.begin(), places.end());
            for (int64_t k = 0; k < width; ++k) states[k] = states[places[k]];
            states.resize(width);
        }
        steps.push_back({item, {}});
        steps.back().origins.reserve(states.size());
        for (const State& state : states) steps.back().origins.push_back(state.origin);
        work += std::max(static_cast<int64_t>(states.size()), kLeastStates);
    }
    return whole;
}

// Bounds choices with the largest number of items that fit, and choices with fewer items,
// separately; tries each width (states per list) in turn.
void Counting::split(std::initializer_list<int64_t> widths, int64_t most_work) {
    const int64_t most_items = most();
    std::vector<Priced> parts;
    parts.push_back(of_number(most_items));
    parts.push_back(below(most_items));
    for (const int64_t width : widths) {
        std::vector<Priced> left;
        for (Priced& relaxed : parts) {
            improve_between(relaxed);
            if (!expand(relaxed, width, most_work)) left.push_back(std::move(relaxed));
        }
        parts = std::move(left);
    }
    int64_t bound = parts.empty() ? value_ : 0;
    for (const Priced& relaxed : parts) bound = std::max(bound, relaxed.total >> relaxed.shift);
    limit(bound);
}

// On the path from `taken` to `heavier`, returns the last choice that fits and the next one. A step
// removes the lightest remaining item that is only in `taken` and adds the lightest remaining item
// that is only in `heavier`.
std::vector<Mask> Counting::between(const Priced& relaxed) const {
    std::vector<int64_t> ways[2];
    for (const int64_t i : order_) {
        if (relaxed.taken[i] && !relaxed.heavier[i]) ways[0].push_back(i);
        if (!relaxed.taken[i] && relaxed.heavier[i]) ways[1].push_back(i);
    }
    for (auto& way : ways)
        std::stable_sort(way.begin(), way.end(), [&](int64_t a, int64_t b) {
            return items_.weights[a] != items_.weights[b] ? items_.weights[a] < items_.weights[b]
                                                          : a < b;
        });
    const size_t most_steps = std::max(ways[0].size(), ways[1].size());
    const int64_t space = room(relaxed.taken);
    int64_t growth = 0;
    size_t last = 0;
    for (size_t step = 1; step <= most_steps; ++step) {
        if (step <= ways[0].size()) growth -= items_.weights[ways[0][step - 1]];
        if (step <= ways[1].size()) growth += items_.weights[ways[1][step - 1]];
        if (growth <= space) last = step;
    }
    std::vector<Mask> choices;
    for (const size_t steps : {last, last + 1}) {
        Mask taken = relaxed.taken;
        for (const auto& way : ways)
            for (size_t k = 0; k < std::min(steps, way.size()); ++k) taken[way[k]] ^= 1;
        choices.push_back(std::move(taken));
    }
    return choices;
}

// Improves a choice by exchanges that first make it fit and then add profit. An exchange removes at
// most one item and adds at most one; it is the one with the largest profit gain among those that
// fit.
Mask Counting::exchanged(Mask taken) const {
    const int64_t count = items_.size();
    int64_t space = room(taken);
    for (int round = 0; round < kExchanges; ++round) {
        const int64_t enough = space >= 0 ? 0 : kNever;
        int64_t best = enough, removed = -1, added = -1;
        // Best item to add among those scanned so far, by increasing weight; `count` stands for
        // none.
        size_t behind = 0;
        int64_t most = 0, which = count;
        const auto consider = [&](int64_t inside, int64_t weight, int64_t profit) {
            const int64_t limit = weight + space;
            if (limit < 0) return;
            for (; behind < order_.size() && items_.weights[order_[behind]] <= limit; ++behind) {
                const int64_t i = order_[behind];
                if (!taken[i] && items_.profits[i] >= most) most = items_.profits[i], which = i;
            }
            const int64_t gain = most - profit;
            if (gain > best || (gain == best && removed >= 0 && inside < removed))
                best = gain, removed = inside, added = which;
        };
        consider(count, 0, 0);
        for (const int64_t i : order_)
            if (taken[i]) consider(i, items_.weights[i], items_.profits[i]);
        if (best <= enough) break;
        if (removed < count) taken[removed] = 0, space += items_.weights[removed];
        if (added < count) taken[added] = 1, space -= items_.weights[added];
    }
    return taken;
}

}  // namespace mmp
