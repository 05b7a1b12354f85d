// Choices and bounds that meet, for the 0-1 knapsack of one constraint.
//
// It is mmpcodec/solvers/knapsack/counting.py in C++; that module explains the method and must give
// equal answers. `run` takes its steps in the same order. `narrow` bounds by the number of
// items and by slope, with lists of few states; `wide` bounds choices of as many items as fit and
// choices of fewer separately.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <vector>

namespace mmp {

// Items of positive profit and weight. The weights add up to less than 2^60.
struct CountedItems {
    std::vector<int64_t> profits, weights;
    int64_t capacity = 0;

    int64_t size() const { return static_cast<int64_t>(profits.size()); }
};

using Mask = std::vector<uint8_t>;

// A Lagrangian bound with a price for a unit of weight and a price for an item.
struct Priced {
    int64_t total = 0;            // the bound in units of 2^-shift
    int shift = 0;
    std::vector<int64_t> losses;  // decrease of the bound if an item is not as in `taken`
    Mask taken, heavier;          // items of the largest gain, and those at the next lower price
};

Priced priced(const CountedItems& items, int64_t count, bool at_least);

class Counting {
public:
    using Clock = std::chrono::steady_clock;

    Counting(const CountedItems& items, Mask taken, int64_t value, int64_t bound,
             Clock::time_point deadline);

    // Takes over a better known value of another search.
    void learn(int64_t value) {
        value_ = std::max(value_, value);
        bound_ = std::max(bound_, value);
    }

    // Both return whether the value meets the bound.
    bool narrow();
    bool wide(int64_t most_work);
    // All steps in the order of counting.py.
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
    std::vector<int64_t> order_;           // items by rising weight, falling profit, rising index
    std::vector<int64_t> lightest_, most_profits_;  // sums of the first items, sorted
    int64_t step_ = 1;
    Mask taken_;
    int64_t value_, bound_;
};

}  // namespace mmp
