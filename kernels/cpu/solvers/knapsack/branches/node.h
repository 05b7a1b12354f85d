// A node of branch and bound: its bounds and the options that they remove. See branches.h; walk.h
// has the order of the nodes.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <vector>

#include "cpu/solvers/knapsack/branches/branches.h"
#include "cpu/solvers/knapsack/branches/simplex.h"

namespace mmp::branching {

__extension__ typedef __int128 Int128;

constexpr int64_t kNone = INT64_MIN;
constexpr double kLeastDoubt = 1e-7, kDoubt = 1e-13;  // assumed error of simplex bounds
constexpr int64_t kRoundedNodes = 16, kShareOfRounding = 16;

enum class SearchEnd : uint8_t { kProven, kNodes, kLimit };

// Wide is the integer type of exact bounds, whose magnitude is below 2**(kBits + 2).
template <class Wide>
class Branches {
public:
    static constexpr int kBits = sizeof(Wide) > 8 ? 120 : 60;

    // `bound` is a known upper bound of the profit.
    Branches(const BranchProblem& problem, int64_t known, int64_t bound,
             const BranchLimits& limits, int shift)
        : problem_(problem),
          limits_(limits),
          shift_(shift),
          options_(problem.starts[problem.stages]),
          budgets_(static_cast<int64_t>(problem.capacities.size())),
          best_(known),
          node_bound_(bound) {
        count_rows();
        lay_out();
    }

    // Solves the node. Returns whether it is still open, so that it must be branched.
    bool enter();

    // Searches until the best choice is proven, a limit is exceeded, or `nodes` nodes are visited.
    SearchEnd search(int64_t nodes);

    int64_t value() const { return best_; }
    int64_t bound() const { return node_bound_; }
    int64_t nodes() const { return nodes_; }
    int64_t work() const { return work_ + simplex_[0].work(); }
    bool better() const { return !chosen_.empty(); }
    bool alive(int64_t option) const { return alive_[option]; }
    int64_t chosen(int64_t g) const { return chosen_[g]; }

private:
    // Bounds of the weight sum of a row, and the range that its stages allow.
    struct Room {
        int64_t low, high;    // bounds of the sum of the weights
        int64_t least;        // sum of the least weights over all stages
        int64_t decided;      // sum of the weights of the decided stages
        Int128 most;          // sum of the largest weights over all stages
    };

    // A branching decision: on an option (take or remove it) or, if option < 0, on the count of
    // second options (at most or above `count`).
    struct Branch {
        int64_t option;
        bool first;  // take the option; or: at most `count`
        int64_t count;
        double other_rank;  // estimated bound of the sibling node
    };

    // An open node in the queue: the decisions that lead to it, its exact bound, and its estimated
    // bound `rank`.
    struct Waiting {
        double rank;
        int64_t bound, number;
        std::vector<Branch> path;

        bool operator<(const Waiting& other) const {
            return rank != other.rank ? rank < other.rank : number < other.number;
        }
    };

    struct Frame {
        Branch second;
        size_t killed, depth;
        std::vector<Room> rooms;
        int64_t profit, open, bound;
    };

    void count_rows();
    void lay_out();
    int64_t weight(int64_t row, int64_t option) const { return weights_[option * rows_ + row]; }
    bool decided(int64_t g) const { return alive_in_[g] == 1; }
    // Returns the first option that is left in a stage.
    int64_t only(int64_t g) const {
        int64_t o = problem_.starts[g];
        while (!alive_[o]) ++o;
        return o;
    }
    // Least possible profit that exceeds the best one: profits are residue_ modulo step_.
    int64_t wanted() const {
        const int64_t past = (best_ - residue_) % step_;
        return best_ - (past < 0 ? past + step_ : past) + step_;
    }
    double cutoff() const;
    void kill(int64_t option);
    void decide(int64_t g);
    void show(int64_t g);
    bool fits() const;
    bool propagate();
    void price(bool ray);
    bool exact_bound(bool ray);
    bool remove_hopeless();
    bool out_of_time();
    Branch choose() const;
    void apply(const Branch& branch);
    void back(const Frame& frame);
    Frame frame(const Branch& second) const;
    bool advance();
    bool excluded(int64_t bound) const { return best_ != kNone && bound < wanted(); }
    void round();
    void exchange(std::vector<int64_t>& chosen, std::vector<int64_t>& sums);
    void record(const std::vector<int64_t>& chosen);

    const BranchProblem& problem_;
    const BranchLimits limits_;
    const int shift_;
    const int64_t options_, budgets_;
    int64_t rows_ = 0;      // number of budgets, plus 1 for the count
    bool counts_ = false;   // whether the last row counts second options
    int64_t step_ = 1;      // greatest common divisor of the differences of profits
    int64_t residue_ = 0;   // every profit of a choice, modulo step_
    std::vector<int64_t> weights_;           // rows_ weights per option
    std::vector<int64_t> stage_of_, variable_, option_of_;  // variables of the simplex
    std::vector<Room> rooms_;
    std::vector<double> scales_;
    double scale_ = 0;  // sum of the magnitudes of the column profits
    std::vector<Wide> most_price_, prices_, gains_, tops_;
    std::vector<uint8_t> alive_;
    std::vector<int64_t> alive_in_, killed_;
    std::vector<int64_t> open_, place_;      // permutation of stages, open ones first; its inverse
    std::vector<int64_t> changed_;           // stages whose changes the simplex does not have yet
    std::vector<uint8_t> is_changed_;
    std::vector<Branch> path_;               // decisions that lead to the current node
    std::vector<Frame> frames_;              // sibling nodes of the current dive
    std::vector<Waiting> waiting_;           // open nodes, a heap
    Frame start_;
    int64_t waiting_branches_ = 0, number_ = 0;
    std::vector<Simplex> simplex_;           // one object, made after lay_out()
    std::vector<int64_t> chosen_, order_;
    int64_t open_count_ = 0, profit_ = 0;    // number of open stages; profit of the decided ones
    Wide total_ = 0;
    int64_t best_;
    int64_t node_bound_;  // bound of the node; finally, of the problem
    int64_t nodes_ = 0, work_ = 0, looked_ = 0, rounding_work_ = 0;
};

template <class Wide>
void Branches<Wide>::count_rows() {
    stage_of_.resize(options_);
    counts_ = problem_.stages > 1;
    step_ = 0;
    for (int64_t g = 0; g < problem_.stages; ++g) {
        const int64_t first = problem_.starts[g], last = problem_.starts[g + 1];
        std::fill(stage_of_.begin() + first, stage_of_.begin() + last, g);
        alive_in_.push_back(last - first);
        counts_ &= last - first == 2;
        for (int64_t o = first + 1; o < last; ++o)
            step_ = std::gcd(step_, problem_.profits[o] - problem_.profits[first]);
    }
    step_ = std::max<int64_t>(step_, 1);
    for (int64_t g = 0; g < problem_.stages; ++g)
        residue_ = (residue_ + problem_.profits[problem_.starts[g]]) % step_;
    rows_ = budgets_ + counts_;
    weights_.resize(rows_ * options_);
    for (int64_t o = 0; o < options_; ++o) {
        std::copy_n(problem_.weights + o * budgets_, budgets_, &weights_[o * rows_]);
        if (counts_) weights_[o * rows_ + budgets_] = o & 1;
    }
    for (int64_t i = 0; i < rows_; ++i) {
        Room room{0, i < budgets_ ? problem_.capacities[i] : problem_.stages, 0, 0, 0};
        if (problem_.exact && i < budgets_) room.low = room.high;
        for (int64_t g = 0; g < problem_.stages; ++g) {
            int64_t least = INT64_MAX, most = 0;
            for (int64_t o = problem_.starts[g]; o < problem_.starts[g + 1]; ++o)
                least = std::min(least, weight(i, o)), most = std::max(most, weight(i, o));
            room.least += least;
            room.most += most;
        }
        rooms_.push_back(room);
        const double largest =
            std::max(static_cast<double>(room.high), static_cast<double>(room.most));
        scales_.push_back(i < budgets_ ? 1.0 / std::max(static_cast<double>(room.high), 1.0) : 1.0);
        most_price_.push_back(static_cast<Wide>(
            std::ldexp(0.99, kBits) / (static_cast<double>(rows_) * std::max(largest, 1.0))));
    }
}

// Defines the simplex variables. If a stage has two options, its first one has no variable;
// otherwise, the slack of the stage's row stands for the first option.
template <class Wide>
void Branches<Wide>::lay_out() {
    variable_.assign(options_, -1);
    std::vector<int64_t> large;
    for (int64_t o = 0; o < options_; ++o) {
        if (problem_.starts[stage_of_[o]] == o) continue;
        variable_[o] = static_cast<int64_t>(option_of_.size());
        option_of_.push_back(o);
    }
    const auto columns = static_cast<int64_t>(option_of_.size());
    for (int64_t g = 0; g < problem_.stages; ++g)
        if (alive_in_[g] > 2) large.push_back(g);
    const int64_t all = rows_ + static_cast<int64_t>(large.size());
    std::vector<double> matrix(all * columns), constants(all), profits(columns), lows(all);
    std::vector<double> highs(all, 1.0);
    double constant = 0;
    for (int64_t g = 0; g < problem_.stages; ++g)
        constant += static_cast<double>(problem_.profits[problem_.starts[g]]);
    for (int64_t j = 0; j < columns; ++j) {
        const int64_t o = option_of_[j], key = problem_.starts[stage_of_[o]];
        profits[j] = static_cast<double>(problem_.profits[o] - problem_.profits[key]);
        scale_ += std::abs(profits[j]);
        for (int64_t i = 0; i < rows_; ++i)
            matrix[i * columns + j] = scales_[i] * static_cast<double>(weight(i, o) -
                                                                       weight(i, key));
    }
    for (int64_t i = 0; i < rows_; ++i) {
        for (int64_t g = 0; g < problem_.stages; ++g)
            constants[i] += scales_[i] * static_cast<double>(weight(i, problem_.starts[g]));
        lows[i] = scales_[i] * static_cast<double>(rooms_[i].low);
        highs[i] = scales_[i] * static_cast<double>(rooms_[i].high);
    }
    for (size_t k = 0; k < large.size(); ++k) {
        const int64_t key = problem_.starts[large[k]], r = rows_ + static_cast<int64_t>(k);
        variable_[key] = columns + r;
        constants[r] = 1.0;
        for (int64_t o = key + 1; o < problem_.starts[large[k] + 1]; ++o)
            matrix[r * columns + variable_[o]] = -1.0;
    }
    option_of_.resize(columns + all, -1);
    for (const int64_t g : large) option_of_[variable_[problem_.starts[g]]] = problem_.starts[g];
    simplex_.emplace_back(all, columns, matrix, constants, profits, constant, lows, highs,
                          limits_.deadline);
    prices_.assign(rows_, 0);
    gains_.resize(options_);
    tops_.resize(problem_.stages);
    alive_.assign(options_, 1);
    is_changed_.assign(problem_.stages, 0);
    open_.resize(problem_.stages);
    std::iota(open_.begin(), open_.end(), 0);
    place_ = open_;
    open_count_ = problem_.stages;
}

// Bound below which the simplex may stop; the exact bound then decides.
template <class Wide>
double Branches<Wide>::cutoff() const {
    if (best_ == kNone) return -INFINITY;
    const auto value = static_cast<double>(wanted());
    return value - kLeastDoubt - kDoubt * (std::abs(value) + scale_);
}

template <class Wide>
void Branches<Wide>::show(int64_t g) {
    if (!is_changed_[g]) is_changed_[g] = 1, changed_.push_back(g);
}

// Removes an option from the node; at least one option of its stage remains.
template <class Wide>
void Branches<Wide>::kill(int64_t option) {
    const int64_t g = stage_of_[option], first = problem_.starts[g], last = problem_.starts[g + 1];
    alive_[option] = 0;
    --alive_in_[g];
    killed_.push_back(option);
    show(g);
    for (int64_t i = 0; i < rows_; ++i) {
        const int64_t own = weight(i, option);
        int64_t least = INT64_MAX, most = 0;
        for (int64_t o = first; o < last; ++o)
            if (alive_[o])
                least = std::min(least, weight(i, o)), most = std::max(most, weight(i, o));
        if (least > own) rooms_[i].least += least - own;
        if (most < own) rooms_[i].most -= own - most;
        if (decided(g)) rooms_[i].decided += least;
    }
    if (decided(g)) decide(g);
}

// Marks a stage with a single option as decided.
template <class Wide>
void Branches<Wide>::decide(int64_t g) {
    profit_ += problem_.profits[only(g)];
    const int64_t last = open_[--open_count_];
    open_[place_[g]] = last;
    open_[open_count_] = g;
    place_[last] = place_[g];
    place_[g] = open_count_;
}

template <class Wide>
bool Branches<Wide>::fits() const {
    return std::all_of(rooms_.begin(), rooms_.end(), [](const Room& room) {
        return room.least <= room.high && room.most >= room.low;
    });
}

// Constraint propagation: removes options that violate a row even with the lightest (for a lower
// bound, the heaviest) options of the other stages. Returns false if the node is infeasible.
template <class Wide>
bool Branches<Wide>::propagate() {
    if (!fits()) return false;
    for (int64_t k = open_count_; k-- > 0;) {
        const int64_t g = open_[k];
        const int64_t first = problem_.starts[g], last = problem_.starts[g + 1];
        for (int64_t i = 0; i < rows_; ++i) {
            int64_t least = INT64_MAX, most = 0;
            for (int64_t o = first; o < last; ++o)
                if (alive_[o])
                    least = std::min(least, weight(i, o)), most = std::max(most, weight(i, o));
            const Room room = rooms_[i];
            const int64_t spare = room.high - room.least;
            const Int128 surplus = room.most - room.low;
            if (most - least <= spare && most - least <= surplus) continue;
            for (int64_t o = first; o < last; ++o) {
                if (!alive_[o] || (weight(i, o) - least <= spare && most - weight(i, o) <= surplus))
                    continue;
                if (decided(g)) return false;
                kill(o);
            }
            if (!fits()) return false;
            if (decided(g)) break;
        }
    }
    return true;
}

// Rounds the dual prices of the simplex; with `ray`, the prices of the Farkas ray that proves
// infeasibility.
template <class Wide>
void Branches<Wide>::price(bool ray) {
    double factor = std::ldexp(1.0, shift_);
    if (ray) {
        factor = INFINITY;
        for (int64_t i = 0; i < rows_; ++i) {
            const double size = std::abs(simplex_[0].ray(i)) * scales_[i];
            if (size > 0) factor = std::min(factor, static_cast<double>(most_price_[i]) / size);
        }
        if (!std::isfinite(factor)) factor = 0;
    }
    for (int64_t i = 0; i < rows_; ++i) {
        const double price = ray ? simplex_[0].ray(i) : simplex_[0].price(i);
        const double scaled = price * scales_[i] * factor;
        const double most = static_cast<double>(most_price_[i]);
        prices_[i] = std::isfinite(scaled)
                         ? static_cast<Wide>(std::round(std::clamp(scaled, -most, most)))
                         : 0;
    }
}

// Computes the Lagrangian bound of the rounded prices into `total_`. Returns whether it prunes the
// node.
template <class Wide>
bool Branches<Wide>::exact_bound(bool ray) {
    price(ray);
    work_ += rows_ * open_count_ * 2;
    total_ = ray ? Wide{0} : static_cast<Wide>(profit_) << shift_;
    for (int64_t i = 0; i < rows_; ++i)
        total_ += prices_[i] *
                  ((prices_[i] > 0 ? rooms_[i].high : rooms_[i].low) - rooms_[i].decided);
    for (int64_t k = 0; k < open_count_; ++k) {
        const int64_t g = open_[k];
        bool any = false;
        for (int64_t o = problem_.starts[g]; o < problem_.starts[g + 1]; ++o) {
            if (!alive_[o]) continue;
            Wide gain = ray ? Wide{0} : static_cast<Wide>(problem_.profits[o]) << shift_;
            for (int64_t i = 0; i < rows_; ++i) gain -= prices_[i] * weights_[o * rows_ + i];
            gains_[o] = gain;
            if (!any || gain > tops_[g]) tops_[g] = gain, any = true;
        }
        total_ += tops_[g];
    }
    if (ray) return total_ < 0;
    const auto bound = static_cast<int64_t>(total_ >> shift_);
    node_bound_ = std::min(node_bound_, bound);
    return best_ != kNone && node_bound_ < wanted();
}

// Reduced-cost fixing: removes options whose bound is too low. Returns whether a basic variable or
// a decision changed.
template <class Wide>
bool Branches<Wide>::remove_hopeless() {
    if (best_ == kNone) return false;
    const Wide slack = total_ - (static_cast<Wide>(wanted()) << shift_);
    bool changed = false;
    for (int64_t k = open_count_; k-- > 0;) {
        const int64_t g = open_[k];
        for (int64_t o = problem_.starts[g]; o < problem_.starts[g + 1]; ++o) {
            if (!alive_[o] || tops_[g] - gains_[o] <= slack) continue;
            kill(o);
            changed |= variable_[o] < 0 || simplex_[0].basic(variable_[o]);
        }
    }
    return changed;
}

template <class Wide>
bool Branches<Wide>::enter() {
    Simplex& simplex = simplex_[0];
    ++nodes_;
    for (;;) {
        if (!propagate()) return false;
        for (const int64_t g : changed_) {
            is_changed_[g] = 0;
            for (int64_t o = problem_.starts[g]; o < problem_.starts[g + 1]; ++o)
                if (variable_[o] >= 0)
                    simplex.set_bounds(variable_[o], alive_[o] && decided(g), alive_[o]);
        }
        changed_.clear();
        const SimplexEnd end = simplex.solve(cutoff());
        if (end == SimplexEnd::kInfeasible && exact_bound(true)) return false;
        if (exact_bound(false)) return false;
        if (end == SimplexEnd::kOptimal &&
            (nodes_ < kRoundedNodes || rounding_work_ < work() / kShareOfRounding)) {
            round();
            if (best_ != kNone && node_bound_ < wanted()) return false;
        }
        if (!remove_hopeless()) break;
    }
    if (open_count_ == 0) {
        if (!propagate()) return false;
        std::vector<int64_t> chosen;
        for (int64_t o = 0; o < options_; ++o)
            if (alive_[o]) chosen.push_back(o);
        record(chosen);
        return false;
    }
    return true;
}

}  // namespace mmp::branching
