#include "cpu/solvers/knapsack/items.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace mmp {

namespace {

constexpr int64_t kSorted = 24;  // largest part that is sorted at once

using Items = std::vector<KnapsackItem>;

// Difference a - b of two ratios profit / weight, scaled by both (positive) weights; only its sign
// counts.
template <class Wide>
Wide difference(const KnapsackItem& a, const KnapsackItem& b) {
    return Wide{a.profit} * b.weight - Wide{b.profit} * a.weight;
}

// Greedy: takes items first to last - 1 while they fit; returns the first that does not.
int64_t take_while_fitting(const Items& items, int64_t first, int64_t last, int64_t& room) {
    while (first < last && items[first].weight <= room) room -= items[first++].weight;
    return first;
}

// Partition step: moves the items that rank before `middle` to the front; returns the position
// after them. `room` is reduced by their weights, to -1 if they do not fit.
template <class Wide>
int64_t move_better(Items& items, int64_t first, int64_t last, const KnapsackItem& middle,
                    int64_t& room) {
    int64_t low = first;
    for (int64_t at = first; at < last; ++at) {
        const KnapsackItem item = items[at];
        const bool better = comes_before<Wide>(item, middle);
        items[at] = items[low];
        items[low] = item;
        low += better;
        room = std::max<int64_t>(room - (better ? item.weight : 0), -1);
    }
    return low;
}

// Partitions the items so that the break solution comes first, followed by the break item at the
// returned position. `room` is the capacity on entry and the capacity left by the break solution on
// return.
template <class Wide>
int64_t partition_at_break(ItemsInParts& in, int64_t& room) {
    int64_t first = 0, last = static_cast<int64_t>(in.items.size());
    while (last - first > kSorted) {
        const KnapsackItem middle = pivot<Wide>(in.items, first, last);
        int64_t left = room;
        const int64_t place = move_better<Wide>(in.items, first, last, middle, left);
        if (left < 0) {
            in.behind.push_back({place, last});
            last = place;
        } else {
            in.before.push_back({first, place});
            first = place;
            room = left;
        }
    }
    in.sorted_first = first;
    in.sorted_last = last;
    std::sort(in.items.begin() + first, in.items.begin() + last, comes_before<Wide>);
    return take_while_fitting(in.items, first, last, room);
}

// Profit of the break solution with at most one item changed, besides the break item.
struct Change {
    int64_t profit = 0;  // relative to the break solution
    int64_t added = -1, removed = -1;
};

// Returns the best change that adds one item, or that adds the break item and removes one item.
Change best_change(const Items& items, int64_t break_item, int64_t room) {
    Change best;
    const int64_t count = static_cast<int64_t>(items.size());
    const KnapsackItem& more = items[break_item];
    const int64_t excess = more.weight - room;
    for (int64_t i = 0; i < break_item; ++i)
        if (items[i].weight >= excess && more.profit - items[i].profit > best.profit)
            best = {more.profit - items[i].profit, break_item, i};
    for (int64_t i = break_item; i < count; ++i)
        if (items[i].weight <= room && items[i].profit > best.profit)
            best = {items[i].profit, i, -1};
    return best;
}

// Keeps only items whose change is within the bound (open items); returns the position of the break
// item.
template <class Wide>
int64_t keep_open(ItemsInParts& in, int64_t break_item, int64_t room, int64_t best) {
    const KnapsackItem middle = in.items[break_item];
    const Int128 slack = Int128{room} * middle.profit - Int128{best + 1} * middle.weight;
    int64_t kept = 0, before = 0;
    const auto keep = [&](int64_t& first, int64_t& last) {
        const int64_t start = kept;
        for (int64_t i = first; i < last; ++i) {
            const Wide gain = difference<Wide>(in.items[i], middle);
            if ((gain > 0 ? gain : -gain) > slack) continue;
            before += i < break_item;
            in.items[kept++] = in.items[i];
        }
        first = start;
        last = kept;
    };
    for (auto& part : in.before) keep(part.first, part.last);
    keep(in.sorted_first, in.sorted_last);
    for (auto part = in.behind.rbegin(); part != in.behind.rend(); ++part)
        keep(part->first, part->last);
    in.items.resize(kept);
    return before;
}

// Greedily adds every item that fits to the break solution, in order of position, which gives a
// better first choice.
void improve_in_order(OpenItems& open, int64_t count, const uint8_t* base, uint8_t* take) {
    int64_t room = open.room, profit = open.profit;
    std::vector<int64_t> added;
    for (size_t i = open.break_item; i < open.items.size(); ++i) {
        if (open.items[i].weight > room) continue;
        room -= open.items[i].weight;
        profit += open.items[i].profit;
        added.push_back(open.items[i].place);
    }
    if (profit <= open.best) return;
    open.best = profit;
    std::copy_n(base, count, take);
    for (const int64_t place : added) take[place] = 1;
}

}  // namespace

template <class Wide>
void open_around_break(OpenItems& open, int64_t capacity, int64_t best, uint8_t* base,
                       uint8_t* take) {
    open.room = capacity;
    open.break_item = partition_at_break<Wide>(open, open.room);
    const KnapsackItem middle = open.items[open.break_item];
    int64_t profit = 0;
    for (int64_t i = 0; i < open.break_item; ++i) {
        profit += open.items[i].profit;
        base[open.items[i].place] = take[open.items[i].place] = 1;
    }
    const auto possible = static_cast<int64_t>(Int128{open.room} * middle.profit / middle.weight);
    const Change change = best_change(open.items, open.break_item, open.room);
    open.proportional = std::all_of(open.items.begin(), open.items.end(), [&](const auto& item) {
        return difference<Wide>(item, middle) == 0;
    });
    if (change.added >= 0) take[open.items[change.added].place] = 1;
    if (change.removed >= 0) take[open.items[change.removed].place] = 0;
    open.profit += profit;
    open.best = open.profit + change.profit;
    open.bound = open.profit + possible;
    if (std::max(open.best, best) >= open.bound) {
        open.items.clear();
        return;
    }
    open.break_item = keep_open<Wide>(open, open.break_item, open.room,
                                      std::max(open.best, best) - open.profit);
}

template void open_around_break<int64_t>(OpenItems&, int64_t, int64_t, uint8_t*, uint8_t*);
template void open_around_break<Int128>(OpenItems&, int64_t, int64_t, uint8_t*, uint8_t*);

OpenItems open_items(const int64_t* profits, const int64_t* weights, int64_t count,
                     int64_t capacity, uint8_t* base, uint8_t* take) {
    OpenItems open;
    int64_t weight_unit = 0, unit = 0, room = capacity;
    int64_t most = 0, heaviest = 0;
    bool fits = true;
    open.items.reserve(count);
    for (int64_t i = 0; i < count; ++i) {
        const bool free = profits[i] > 0 && weights[i] == 0;
        base[i] = take[i] = free;
        if (profits[i] <= 0 || weights[i] > capacity) continue;
        if (unit != 1) unit = std::gcd(unit, profits[i]);
        if (free) {
            open.profit += profits[i];
            continue;
        }
        if (weight_unit != 1) weight_unit = std::gcd(weight_unit, weights[i]);
        if (fits && weights[i] <= room)
            room -= weights[i];
        else
            fits = false;
        most = std::max(most, profits[i]);
        heaviest = std::max(heaviest, weights[i]);
        open.items.push_back({profits[i], weights[i], i});
    }
    open.profit_unit = unit = std::max<int64_t>(unit, 1);
    open.profit /= unit;
    if (fits) {
        for (const KnapsackItem& item : open.items) {
            base[item.place] = take[item.place] = 1;
            open.profit += item.profit / unit;
        }
        open.items.clear();
        open.everything = true;
        open.best = open.bound = open.profit;
        return open;
    }
    if (unit > 1)
        for (KnapsackItem& item : open.items) item.profit /= unit;
    if (weight_unit > 1)
        for (KnapsackItem& item : open.items) item.weight /= weight_unit;
    const int bits = std::bit_width(static_cast<uint64_t>(most)) +
                     std::bit_width(static_cast<uint64_t>(heaviest));
    const auto around = bits <= 62 ? open_around_break<int64_t> : open_around_break<Int128>;
    around(open, capacity / weight_unit, 0, base, take);
    if (!open.items.empty()) improve_in_order(open, count, base, take);
    if (open.best == open.bound) open.items.clear();
    return open;
}

void order_around_break(const int64_t* profits, const int64_t* weights, int64_t count,
                        int64_t capacity, int64_t* stages) {
    Items plain;
    for (int64_t i = 0; i < count; ++i) {
        if (profits[i] > 0 && weights[i] > 0 && weights[i] <= capacity)
            plain.push_back({profits[i], weights[i], i});
        else
            *stages++ = i;
    }
    std::sort(plain.begin(), plain.end(), comes_before<Int128>);
    const int64_t size = static_cast<int64_t>(plain.size());
    const int64_t middle = take_while_fitting(plain, 0, size, capacity);
    for (int64_t left = middle, right = middle; left > 0 || right < size;) {
        if (right < size) *stages++ = plain[right++].place;
        if (left > 0) *stages++ = plain[--left].place;
    }
}

}  // namespace mmp
