// The items of a 0-1 knapsack of one constraint around its break item.
//
// By falling profit per weight, the break item is the first that does not fit beside the items
// before it. The break solution takes these. A partition finds the break item in a time
// proportional to the number of items. The parts that it leaves are sorted when the search reaches
// them. An item is open if the bound allows a better value with its decision changed. Sources:
// E. Balas and E. Zemel, "An algorithm for large zero-one knapsack problems", Operations Research
// 1980; R. Dembo and P. Hammer, "A reduction algorithm for knapsack problems", Methods of
// Operations Research 1980; lazy sorting: D. Pisinger, "An expanding-core algorithm for the exact
// 0-1 knapsack problem", European Journal of Operational Research 1995.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace mmp {

__extension__ typedef __int128 Int128;

struct KnapsackItem {
    int64_t profit, weight;
    int64_t place;  // index among the items of the caller
};

// Returns whether item `a` comes before item `b`: by falling profit per weight, then by rising
// weight and index.
template <class Wide>
bool comes_before(const KnapsackItem& a, const KnapsackItem& b) {
    const Wide left = Wide{a.profit} * b.weight, right = Wide{b.profit} * a.weight;
    if (left != right) return left > right;
    return a.weight != b.weight ? a.weight < b.weight : a.place < b.place;
}

// The item in the middle of three, or of nine if there are many.
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

// Items around a break item. Those at sorted_first to sorted_last - 1 are in order. The items of
// `before` come before them, those of `behind` come after them. The last part is the nearest one;
// items between the parts are settled.
struct ItemsInParts {
    struct Part {
        int64_t first, last;
    };

    std::vector<KnapsackItem> items;
    std::vector<Part> before, behind;
    int64_t sorted_first = 0, sorted_last = 0;

    // Sorts the next items before the sorted ones, without those that `keep` refuses. Returns
    // whether there are any.
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

    // Sorts the next items behind the sorted ones in the same way.
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

    // Splits a part into two; returns the place of the first item of the second one.
    template <class Wide>
    int64_t split(int64_t first, int64_t last) {
        const KnapsackItem middle = pivot<Wide>(items, first, last);
        for (int64_t i = first; i < last; ++i)
            if (comes_before<Wide>(items[i], middle)) std::swap(items[first++], items[i]);
        return first;
    }
};

// What the settling of items leaves to be solved.
struct OpenItems : ItemsInParts {
    int64_t break_item = 0;     // place of the break item in `items`
    int64_t room = 0;           // capacity that the break solution leaves
    int64_t profit = 0;         // profit of the break solution, with all settled items
    int64_t best = 0;           // best known profit, at least `profit`
    int64_t bound = 0;          // upper bound of the profit
    int64_t profit_unit = 1;    // all profits of the caller are multiples of it
    bool everything = false;    // whether all items fit together
    bool proportional = false;  // whether all profits are one multiple of the weights
};

// Settles items of any profit and of weights from 0 up, and finds a first choice. `take` gets this
// choice, of profit `best`; `base` gets the break solution. Both have a flag for each item of the
// caller. Profits are divided by their common divisor, `profit_unit`, and weights by theirs. No
// items are left open if `best` equals `bound`.
OpenItems open_items(const int64_t* profits, const int64_t* weights, int64_t count,
                     int64_t capacity, uint8_t* base, uint8_t* take);

// The same for items of positive weights of which each fits and all together do not; open.profit
// has the profit of items that are settled before. Only a profit above `best` matters.
template <class Wide>
void open_around_break(OpenItems& open, int64_t capacity, int64_t best, uint8_t* base,
                       uint8_t* take);

// Writes the stages of the package's order: the items that are decided separately, then the break
// item and in turn the next item before it and the next item after it.
void order_around_break(const int64_t* profits, const int64_t* weights, int64_t count,
                        int64_t capacity, int64_t* stages);

}  // namespace mmp
