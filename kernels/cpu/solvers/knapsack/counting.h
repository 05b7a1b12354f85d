// Heuristic choices and upper bounds that meet, for the 0-1 knapsack with one constraint.
//
// C++ version of mmpcodec/solvers/knapsack/counting.py; that module explains the method and must
// give equal answers. `run` takes the steps in the same order. `narrow` bounds by the number of
// items and by slope, with lists of few states; `wide` bounds separately the choices with the
// largest number of items that fit and the choices with fewer items.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <vector>

namespace mmp {

// Items with positive profit and weight; the sum of the weights is below 2^60.
struct CountedItems {
    std::vector<int64_t> profits, weights;
    int64_t capacity = 0;

    int64_t size() const { return static_cast<int64_t>(profits.size()); }
};

using Mask = std::vector<uint8_t>;

// A Lagrangian bound with one price per unit of weight and one per item.
struct Priced {
    int64_t total = 0;            // bound in units of 2^-shift
    int shift = 0;
    std::vector<int64_t> losses;  // decrease of the bound if the item changes from `taken`
    Mask taken, heavier;          // items of the largest gain; the same at the next lower price
};

Priced priced(const CountedItems& items, int64_t count, bool at_least);

class Counting {
public:
    using Clock = std::chrono::steady_clock;

    Counting(const CountedItems& items, Mask taken, int64_t value, int64_t bound,
             Clock::time_point deadline);

    // Takes over a better value that another search found.
    void learn(int64_t value) {
        value_ = std::max(value_, value);
        bound_ = std::max(bound_, value);
    }

    // Both return whether the value equals the bound.
    bool narrow();
    bool wide(int64_t most_work);
    // Runs all steps in the order of counting.py.
    bool run(bool slopes);

    const Mask& taken() const { return taken_; }
    int64_t value() const { return value_; }
    int64_t bound() const { return bound_; }

private:
    bool done() const;
    int64_t value_of(const Mask& taken) const;
    int64_t room(const Mask& taken) const;
    void offer(const Mask& taken);
    void limit(int64_t bound);
    void improve(const Mask& taken);
    void improve_between(const Priced& relaxed);
    int64_t most() const;
    int64_t least() const;
    Priced relax();
    Priced of_number(int64_t most) const;
    Priced below(int64_t count) const;
    bool limit_by_slope();
    void force_all();
    void force(const Mask& start);
    bool expand(const Priced& relaxed, int64_t width, int64_t most_work);
    void split(std::initializer_list<int64_t> widths, int64_t most_work);
    std::vector<Mask> between(const Priced& relaxed) const;
    Mask exchanged(Mask taken) const;

    const CountedItems& items_;
    const Clock::time_point deadline_;
    std::vector<int64_t> order_;           // items by increasing weight, decreasing profit, index
    std::vector<int64_t> lightest_, most_profits_;  // prefix sums of sorted weights, profits
    int64_t step_ = 1;
    Mask taken_;
    int64_t value_, bound_;
};

}  // namespace mmp
