// The items of a 0-1 knapsack of one constraint around its break item.
//
// By falling profit per weight, the break item is the first that does not fit beside the items
// before it. The break solution takes these. A partition finds the break item in a time
// proportional to the number of items; only the open items are sorted. An item is open if the bound
// allows a better value with its decision changed. Sources: E. Balas and E. Zemel, "An algorithm
// for large zero-one knapsack problems", Operations Research 1980; R. Dembo and P. Hammer, "A
// reduction algorithm for knapsack problems", Methods of Operations Research 1980.
#pragma once

#include <stdint.h>

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

// What the settling of items leaves to be solved.
struct OpenItems {
    std::vector<KnapsackItem> items;  // open items in their order
    int64_t break_item = 0;           // place of the break item in `items`
    int64_t room = 0;                 // capacity that the break solution leaves
    int64_t profit = 0;               // profit of the break solution, with all settled items
    int64_t best = 0;                 // best known profit, at least `profit`
    int64_t bound = 0;                // upper bound of the profit
    int64_t profit_unit = 1;          // all profits of the caller are multiples of it
    bool everything = false;          // whether all items fit together
    bool proportional = false;        // whether all profits are one multiple of the weights
};

// Settles items of any profit and of weights from 0 up, and finds a first choice. `take` gets this
// choice, of profit `best`; `base` gets the break solution. Both have a flag for each item of the
// caller. Profits are divided by their common divisor, `profit_unit`, and weights by theirs. No
// items are left open if `best` equals `bound`.
OpenItems open_items(const int64_t* profits, const int64_t* weights, int64_t count,
                     int64_t capacity, uint8_t* base, uint8_t* take);

// Writes the stages of the package's order: the items that are decided separately, then the break
// item and in turn the next item before it and the next item after it.
void order_around_break(const int64_t* profits, const int64_t* weights, int64_t count,
                        int64_t capacity, int64_t* stages);

}  // namespace mmp
