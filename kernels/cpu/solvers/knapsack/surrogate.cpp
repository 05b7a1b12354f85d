#include "cpu/solvers/knapsack/surrogate.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>

#include "cpu/runtime/interrupts.h"

namespace mmp {

namespace {

using Deadline = std::chrono::steady_clock::time_point;

constexpr int64_t kMostWeight = int64_t{1} << 60;  // exclusive limit of sums of weights
// Work spent on the relaxed knapsack, by the ratio of the gap of its linear bound to the known gap:
// up to 1 / kMuch, all work; up to 1 / kLittle, 1 / kShare of it; above that, none.
constexpr int64_t kMuch = 4, kLittle = 2, kShare = 64;
constexpr int kMostShift = 8;
constexpr int64_t kFewItems = 64;                  // up to this many open items are not filtered

// A multiplier in units of 2^-shift.
struct Scaled {
    int64_t times;
    int shift;
};

// Search for the multiplier at which the number of items in the linear relaxation crosses a limit.
class Multiplier {
public:
    Multiplier(const std::vector<KnapsackItem>& items, double capacity, double number)
        : room_(capacity), number_(number) {
        items_.reserve(items.size());
        for (const KnapsackItem& item : items)
            items_.push_back({static_cast<double>(item.profit), static_cast<double>(item.weight)});
    }

    // Returns the largest multiplier from `low` to `high` at which the linear relaxation has at
    // least the wanted number of items; this number decreases with the multiplier. The multiplier
    // is an integer or, if that is not precise enough, a multiple of 2^-shift, for the least shift
    // up to `most_shift` that leaves less than one item too many. `rate` is the price of weight at
    // multiplier 0. Any multiplier gives a valid bound, so the search may stop at the deadline.
    Scaled find(int64_t low, int64_t high, double rate, int most_shift, Deadline deadline) {
        Price below{std::numeric_limits<double>::infinity(), 0, false}, above{0, 0, false};
        if (low == 0) below.weight = rate;
        if (high == 0) above.weight = rate;
        int shift = 0;
        while (high - low > 1 || (below.count >= number_ + 1 && shift < most_shift)) {
            stop_if_interrupted();
            if (std::chrono::steady_clock::now() > deadline) break;
            if (high - low == 1) ++shift, low *= 2, high *= 2;
            const double unit = 1.0 / (int64_t{1} << shift);
            int64_t middle = low + (high - low) / 2;
            // Multiplier 0 is often the best one, so its neighbours are tried first.
            if (shift == 0 && high - low > 1 && low == 0) middle = 1;
            if (shift == 0 && high - low > 1 && high == 0) middle = -1;
            const Price price = price_at(static_cast<double>(middle) * unit);
            if (price.exact) return {middle, shift};
            if (price.count >= number_)
                low = middle, below = price;
            else
                high = middle, above = price;
            if (static_cast<int64_t>(items_.size()) > kFewItems)
                decide(static_cast<double>(low) * unit, below, static_cast<double>(high) * unit,
                       above);
        }
        return {low, shift};
    }

private:
    struct Item {
        double profit, weight;
    };
    struct Rated {
        double rate, weight;
    };
    // Linear relaxation at a multiplier: price per unit of weight, infinite if all items fit; the
    // number of items; and whether ties make the wanted number possible.
    struct Price {
        double weight, count;
        bool exact;
    };

    Price price_at(double multiplier) {
        rated_.clear();
        double room = room_ + multiplier * (number_ - taken_), count = taken_;
        for (const Item& item : items_) {
            const double weight = item.weight + multiplier;
            if (weight > 0)
                rated_.push_back({item.profit / weight, weight});
            else
                room -= weight, ++count;
        }
        size_t first = 0, last = rated_.size();
        double rate = 0;
        while (first < last) {
            const size_t middle = first + (last - first) / 2;
            const auto of_three = [](double a, double b, double c) {
                return std::max(std::min(a, b), std::min(std::max(a, b), c));
            };
            rate = of_three(rated_[first].rate, rated_[middle].rate, rated_[last - 1].rate);
            // Three-way partition: better, equal and worse items.
            size_t low = first, at = first, high = last;
            double better = 0;
            while (at < high) {
                const Rated item = rated_[at];
                if (item.rate > rate)
                    better += item.weight, std::swap(rated_[low++], rated_[at++]);
                else if (item.rate < rate)
                    std::swap(rated_[at], rated_[--high]);
                else
                    ++at;
            }
            if (better > room) {
                last = low;
                continue;
            }
            count += static_cast<double>(low - first);
            room -= better;
            if (reaches(low, high, number_ - count, room)) return {rate, number_, true};
            for (; low < high; ++low) {
                if (rated_[low].weight > room)
                    return {rate, count + room / rated_[low].weight, false};
                room -= rated_[low].weight;
                ++count;
            }
            first = high;
        }
        return {std::numeric_limits<double>::infinity(), count, false};
    }

    // Whether some order of the equally rated items `first` to `last` - 1 makes the relaxation take
    // exactly `number` of them.
    bool reaches(size_t first, size_t last, double number, double room) {
        if (last - first < 2 || number < 0 || number > static_cast<double>(last - first))
            return false;
        const auto begin = rated_.begin() + first, end = rated_.begin() + last;
        const auto sum_of_first = [&](auto order) {
            const auto place = begin + static_cast<int64_t>(number);
            if (place != end)
                std::nth_element(begin, place, end, [&](const Rated& a, const Rated& b) {
                    return order(a.weight, b.weight);
                });
            return std::accumulate(begin, place, 0.0,
                                   [](double sum, const Rated& item) { return sum + item.weight; });
        };
        return sum_of_first(std::less<>()) <= room && sum_of_first(std::greater<>()) >= room;
    }

    // Fixes the items that the relaxation takes (or leaves) at every multiplier of a range. `first`
    // has the prices at its lowest multiplier, `last` at its highest.
    void decide(double low, const Price& first, double high, const Price& last) {
        size_t kept = 0;
        for (const Item& item : items_) {
            if (item.profit > (item.weight + high) * std::max(first.weight, last.weight))
                room_ -= item.weight, ++taken_;
            else if (item.profit >= (item.weight + low) * std::min(first.weight, last.weight))
                items_[kept++] = item;
        }
        items_.resize(kept);
    }

    std::vector<Item> items_;
    std::vector<Rated> rated_;
    double room_, number_, taken_ = 0;
};

int bits(int64_t a, int64_t b) {
    return std::bit_width(static_cast<uint64_t>(a)) + std::bit_width(static_cast<uint64_t>(b));
}

// Returns the sum of the first `number` values in the given order.
template <class Order>
int64_t sum_of_first(std::vector<int64_t> values, int64_t number, Order order) {
    const auto end = values.begin() + number;
    if (end != values.end()) std::nth_element(values.begin(), end, values.end(), order);
    return std::reduce(values.begin(), end);
}

class Surrogate {
public:
    Surrogate(const OpenItems& open, int64_t best, int64_t work, const ListLimits& limits)
        : open_(open), count_(static_cast<int64_t>(open.items.size())), work_(work),
          limits_(limits), capacity_(open.room) {
        for (int64_t i = 0; i < open.break_item; ++i) {
            capacity_ += open.items[i].weight;
            before_ += open.items[i].profit;
        }
        best_ = before_ + best;
        const KnapsackItem& middle = open.items[open.break_item];
        rate_ = static_cast<double>(middle.profit) / static_cast<double>(middle.weight);
    }

    SurrogateAnswer run(int64_t bound) {
        bound += before_;
        const int64_t known = best_, number = open_.break_item;
        gap_ = bound - known;
        std::vector<int64_t> weights, profits;
        for (const KnapsackItem& item : open_.items) {
            weights.push_back(item.weight);
            profits.push_back(item.profit);
        }
        const int64_t heaviest = *std::max_element(weights.begin(), weights.end());
        const int64_t all = std::reduce(profits.begin(), profits.end());
        // Products of profits and weights of up to twice the heaviest must fit 61 bits.
        most_shift_ = std::clamp(59 - bits(all, heaviest), 0, kMostShift);
        if (((Int128{count_} * heaviest * 3 + capacity_) << most_shift_) < kMostWeight) {
            // Whether a better choice can have more items than the break solution, and whether one
            // can have at most as many.
            const bool more = sum_of_first(weights, number + 1, std::less<>()) <= capacity_;
            const bool fewer = sum_of_first(profits, number, std::greater<>()) > best_;
            int64_t most = more ? part(number + 1, -heaviest, 0, bound) : best_;
            if (fewer)
                most = most - best_ <= gap_ / kLittle
                           ? std::max(most, part(number, 0, heaviest, bound))
                           : bound;
            bound = std::min(bound, std::max(most, best_));
        }
        SurrogateAnswer answer{best_ - before_, bound - before_, {}};
        if (best_ > known) answer.taken = std::move(taken_);
        return answer;
    }

private:
    // Returns an upper bound of the choices that respect a limit of the number of items, but at
    // least the best known profit.
    int64_t part(int64_t number, int64_t low, int64_t high, int64_t bound) {
        Multiplier search(open_.items, static_cast<double>(capacity_), static_cast<double>(number));
        const Scaled multiplier = search.find(low, high, rate_, most_shift_, limits_.deadline);
        if (multiplier.times == 0) return bound;
        OpenItems relaxed;
        relaxed.items.reserve(count_);
        int64_t capacity = (capacity_ << multiplier.shift) + multiplier.times * number;
        std::vector<uint8_t> base(count_), take(count_);
        for (int64_t i = 0; i < count_; ++i) {
            const KnapsackItem& item = open_.items[i];
            const int64_t weight = (item.weight << multiplier.shift) + multiplier.times;
            if (weight > 0) {
                relaxed.items.push_back({item.profit, weight, i});
                continue;
            }
            capacity -= weight;
            relaxed.profit += item.profit;
            base[i] = take[i] = 1;
        }
        if (capacity < 0) return best_;
        std::erase_if(relaxed.items,
                      [&](const KnapsackItem& item) { return item.weight > capacity; });
        int64_t profits = 0, weights = 0, most = 0, heaviest = 0;
        for (const KnapsackItem& item : relaxed.items) {
            profits += item.profit;
            weights += item.weight;
            most = std::max(most, item.profit);
            heaviest = std::max(heaviest, item.weight);
        }
        if (weights <= capacity) return std::max(best_, std::min(bound, relaxed.profit + profits));
        const bool narrow =
            std::max(bits(2 * profits, heaviest), bits(weights + capacity, most)) <= 61;
        return narrow ? solve<int64_t>(relaxed, capacity, base, take)
                      : solve<Int128>(relaxed, capacity, base, take);
    }

    template <class Wide>
    int64_t solve(OpenItems& relaxed, int64_t capacity, std::vector<uint8_t>& base,
                  std::vector<uint8_t>& take) {
        open_around_break<Wide>(relaxed, capacity, best_, base.data(), take.data());
        if (relaxed.bound <= best_) return best_;
        offer(take);
        relaxed.best = std::max(relaxed.best, best_);
        if (relaxed.items.empty()) return relaxed.best;
        const int64_t gap = relaxed.bound - relaxed.best;
        if (gap > gap_ / kLittle) return relaxed.bound;
        const int64_t work =
            gap <= gap_ / kMuch && !relaxed.proportional ? work_ : work_ / kShare;
        Lists<Wide> lists(relaxed, limits_);
        lists.run(work);
        std::vector<uint8_t> changed;
        if (lists.changes(changed)) {
            for (size_t i = 0; i < changed.size(); ++i) base[relaxed.items[i].place] ^= changed[i];
            offer(base);
        }
        return relaxed.profit + lists.bound();
    }

    // Stores a choice if it fits and is the best one.
    void offer(const std::vector<uint8_t>& taken) {
        int64_t profit = 0, weight = 0;
        for (int64_t i = 0; i < count_; ++i) {
            profit += taken[i] ? open_.items[i].profit : 0;
            weight += taken[i] ? open_.items[i].weight : 0;
        }
        if (weight > capacity_ || profit <= best_) return;
        best_ = profit;
        taken_ = taken;
    }

    const OpenItems& open_;
    const int64_t count_, work_;
    const ListLimits limits_;
    int64_t capacity_;     // capacity for the open items
    int64_t before_ = 0;   // profit of the open items in the break solution
    int64_t best_, gap_ = 0;
    double rate_;          // profit per weight of the break item
    int most_shift_ = 0;
    std::vector<uint8_t> taken_;
};

}  // namespace

SurrogateAnswer surrogate_bound(const OpenItems& open, int64_t best, int64_t bound, int64_t work,
                                const ListLimits& limits) {
    return Surrogate(open, best, work, limits).run(bound);
}

}  // namespace mmp
