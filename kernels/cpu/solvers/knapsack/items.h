// Items of a 0-1 knapsack with one constraint, partitioned around the break item.
//
// In order of decreasing profit per weight, the break item is the first item that does not fit
// beside all items before it. The break solution takes the items before it. A partition
// (quickselect) finds the break item in linear time; the parts that it leaves are sorted lazily,
// when the search reaches them. An item is open if the bound allows a better value with its
// decision changed; the others are settled (fixed). Sources: E. Balas and E. Zemel, "An algorithm
// for large zero-one knapsack problems", Operations Research 1980; R. Dembo and P. Hammer, "A
// reduction algorithm for knapsack problems", Methods of Operations Research 1980; lazy sorting: D.
// Pisinger, "An expanding-core algorithm for the exact 0-1 knapsack problem", European Journal of
// Operational Research 1995.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace mmp {

__extension__ typedef __int128 Int128;

struct KnapsackItem {
    int64_t profit, weight;
    int64_t place;  // index in the caller's arrays
};

// Returns whether item `a` ranks before item `b`: by decreasing profit per weight, then by
// increasing weight and index.
template <class Wide>
bool comes_before(const KnapsackItem& a, const KnapsackItem& b) {
    const Wide left = Wide{a.profit} * b.weight, right = Wide{b.profit} * a.weight;
    if (left != right) return left > right;
    return a.weight != b.weight ? a.weight < b.weight : a.place < b.place;
}

// Pivot: median of three items, or of nine if there are many.
template <class Wide>
KnapsackItem pivot(const std::vector<KnapsackItem>& items, int64_t first, int64_t last) {
    constexpr int64_t kMany = 256;
    const auto middle_of = [](KnapsackItem a, KnapsackItem b, const KnapsackItem& c) {
        if (comes_before<Wide>(b, a)) std::swap(a, b);
        if (comes_before<Wide>(b, c)) return b;
        return comes_before<Wide>(c, a) ? a : c;
    };
    const auto of_three = [&](int64_t at, int64_t step) {
        return middle_of(items[at - step], items[at], items[at + step]);
    };
    const int64_t middle = first + (last - first) / 2, step = (last - first) / 9;
    if (last - first < kMany) return of_three(middle, 3 * step);
    return middle_of(of_three(middle - 3 * step, step), of_three(middle, step),
                     of_three(middle + 3 * step, step));
}

// Items around a break item. Items sorted_first to sorted_last - 1 are sorted. The parts in
// `before` rank before them, the parts in `behind` after them; the last part of each list is the
// nearest one. Items between the parts are settled.
struct ItemsInParts {
    struct Part {
        int64_t first, last;
    };

    std::vector<KnapsackItem> items;
    std::vector<Part> before, behind;
    int64_t sorted_first = 0, sorted_last = 0;

    // Sorts the nearest part before the sorted items, without items that `keep` rejects. Returns
    // whether there is such a part.
    template <class Wide, class Keep>
    bool sort_before(const Keep& keep) {
        while (!before.empty()) {
            const Part part = before.back();
            before.pop_back();
            int64_t first = sorted_first;
            for (int64_t i = part.last; i-- > part.first;)
                if (keep(items[i])) std::swap(items[--first], items[i]);
            if (first == sorted_first) continue;
            while (sorted_first - first > kSortedAtOnce) {
                const int64_t middle = split<Wide>(first, sorted_first);
                before.push_back({first, middle});
                first = middle;
            }
            std::sort(items.begin() + first, items.begin() + sorted_first, comes_before<Wide>);
            sorted_first = first;
            return true;
        }
        return false;
    }

    // Sorts the nearest part behind the sorted items in the same way.
    template <class Wide, class Keep>
    bool sort_behind(const Keep& keep) {
        while (!behind.empty()) {
            const Part part = behind.back();
            behind.pop_back();
            int64_t last = sorted_last;
            for (int64_t i = part.first; i < part.last; ++i)
                if (keep(items[i])) std::swap(items[last++], items[i]);
            if (last == sorted_last) continue;
            while (last - sorted_last > kSortedAtOnce) {
                const int64_t middle = split<Wide>(sorted_last, last);
                behind.push_back({middle, last});
                last = middle;
            }
            std::sort(items.begin() + sorted_last, items.begin() + last, comes_before<Wide>);
            sorted_last = last;
            return true;
        }
        return false;
    }

private:
    static constexpr int64_t kSortedAtOnce = 256;

    // Splits a part at a pivot; returns the position of the first item of the second part.
    template <class Wide>
    int64_t split(int64_t first, int64_t last) {
        const KnapsackItem middle = pivot<Wide>(items, first, last);
        for (int64_t i = first; i < last; ++i)
            if (comes_before<Wide>(items[i], middle)) std::swap(items[first++], items[i]);
        return first;
    }
};

// The items that remain open after variable fixing.
struct OpenItems : ItemsInParts {
    int64_t break_item = 0;     // position of the break item in `items`
    int64_t room = 0;           // capacity left by the break solution
    int64_t profit = 0;         // profit of the break solution, settled items included
    int64_t best = 0;           // best known profit, at least `profit`
    int64_t bound = 0;          // upper bound of the profit
    int64_t profit_unit = 1;    // common divisor of all profits of the caller
    bool everything = false;    // whether all items fit together
    bool proportional = false;  // whether profit / weight is equal for all items
};

// Fixes items and finds a first choice; profits may have any sign, weights are at least 0. `take`
// receives this choice, with profit `best`; `base` receives the break solution. Both have a flag
// per item of the caller. Profits are divided by their common divisor `profit_unit`, weights by
// theirs. No item is open if `best` equals `bound`.
OpenItems open_items(const int64_t* profits, const int64_t* weights, int64_t count,
                     int64_t capacity, uint8_t* base, uint8_t* take);

// open_items() for items with positive weights that each fit but do not all fit together;
// open.profit is the profit of the items that were fixed before. Only a profit above `best`
// matters.
template <class Wide>
void open_around_break(OpenItems& open, int64_t capacity, int64_t best, uint8_t* base,
                       uint8_t* take);

// Writes the package's order of stages: items that are decided separately, then the break item,
// then alternately the next item before it and the next item after it.
void order_around_break(const int64_t* profits, const int64_t* weights, int64_t count,
                        int64_t capacity, int64_t* stages);

}  // namespace mmp
