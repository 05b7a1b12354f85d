// Node selection and branching, and the heuristics that find choices. See branches.h.
#pragma once

#include <stdint.h>

#include "cpu/runtime/interrupts.h"
#include "cpu/solvers/knapsack/branches/node.h"

namespace mmp::branching {

constexpr double kWhole = 1e-6;      // tolerance of integral values
constexpr double kLeastLoss = 1e-6;  // keeps products of losses above 0
constexpr double kPatience = 0.5;    // a dive goes on within this share of the gap of the best node
constexpr int64_t kWorkBetween = 1 << 18;  // work between two checks of the deadline
constexpr int64_t kSortWork = 16;          // work units per sorted option
constexpr size_t kMostPairs = 1 << 16;     // limit of exchanged pairs of options
constexpr int64_t kMostWaiting = 1 << 22;  // limit of decisions stored in open nodes

// Drops every second element.
inline void thin(std::vector<int64_t>& options) {
    size_t kept = 0;
    for (size_t k = 0; k < options.size(); k += 2) options[kept++] = options[k];
    options.resize(kept);
}

// Returns the branching decision with the largest loss of the bound on both sides, the better side
// first.
template <class Wide>
typename Branches<Wide>::Branch Branches<Wide>::choose() const {
    const Simplex& simplex = simplex_[0];
    Branch best{-1, false, 0, 0.0};
    double most = -1;
    const auto consider = [&](int64_t variable, double value, int64_t option) {
        const double part = value - std::floor(value);
        if (part < kWhole || part > 1 - kWhole) return;
        auto [down, up] = simplex.losses(variable);
        down *= part;
        up *= 1 - part;
        const double score = std::max(down, kLeastLoss) * std::max(up, kLeastLoss);
        if (score <= most) return;
        most = score;
        const bool first_up = up < down || (up == down && part > 0.5);
        const double rank = simplex.bound() - std::max(down, up);
        best = option < 0 ? Branch{-1, !first_up, static_cast<int64_t>(std::floor(value)), rank}
                          : Branch{option, first_up, 0, rank};
    };
    if (counts_) {
        const auto columns = static_cast<int64_t>(option_of_.size()) - rows_;
        const int64_t variable = columns + budgets_;
        // A simplex that stopped early may leave the count outside its bounds.
        const double count = simplex.value(variable);
        if (simplex.basic(variable) && count > static_cast<double>(rooms_[budgets_].low) &&
            count < static_cast<double>(rooms_[budgets_].high))
            consider(variable, count, -1);
        if (most >= 0) return best;
    }
    for (size_t v = 0; v < option_of_.size(); ++v) {
        const int64_t o = option_of_[v], variable = static_cast<int64_t>(v);
        if (o >= 0 && !decided(stage_of_[o]) && alive_[o] && simplex.basic(variable))
            consider(variable, simplex.value(variable), o);
    }
    if (most >= 0) return best;
    // All variables are integral, but rounding errors or a stuck simplex left the node open.
    return {only(open_[0]), true, 0, simplex.bound()};
}

template <class Wide>
void Branches<Wide>::apply(const Branch& branch) {
    path_.push_back(branch);
    if (branch.option < 0) {
        Room& room = rooms_[budgets_];
        if (branch.first)
            room.high = std::min(room.high, branch.count);
        else
            room.low = std::max(room.low, branch.count + 1);
        const auto columns = static_cast<int64_t>(option_of_.size()) - rows_;
        if (room.low <= room.high)
            simplex_[0].set_bounds(columns + budgets_, static_cast<double>(room.low),
                                   static_cast<double>(room.high));
        return;
    }
    if (!branch.first) return kill(branch.option);
    const int64_t g = stage_of_[branch.option];
    for (int64_t o = problem_.starts[g]; o < problem_.starts[g + 1]; ++o)
        if (alive_[o] && o != branch.option) kill(o);
}

// Backtracks to the state of a frame.
template <class Wide>
void Branches<Wide>::back(const Frame& frame) {
    while (killed_.size() > frame.killed) {
        const int64_t o = killed_.back();
        killed_.pop_back();
        alive_[o] = 1;
        ++alive_in_[stage_of_[o]];
        show(stage_of_[o]);
    }
    if (counts_) {
        const Room &now = rooms_[budgets_], &then = frame.rooms[budgets_];
        const auto columns = static_cast<int64_t>(option_of_.size()) - rows_;
        if (now.low != then.low || now.high != then.high)
            simplex_[0].set_bounds(columns + budgets_, static_cast<double>(then.low),
                                   static_cast<double>(then.high));
    }
    path_.erase(path_.begin() + static_cast<int64_t>(frame.depth), path_.end());
    rooms_ = frame.rooms;
    profit_ = frame.profit;
    open_count_ = frame.open;
    node_bound_ = frame.bound;
}

// Rounding heuristic: keeps integral options, starts the other stages with their lightest options,
// then exchanges options for more profitable ones in order of increasing loss while they fit.
template <class Wide>
void Branches<Wide>::round() {
    const Simplex& simplex = simplex_[0];
    rounding_work_ += open_count_ * kSortWork + problem_.stages;
    std::vector<int64_t> chosen(problem_.stages), sums(budgets_);
    for (int64_t i = 0; i < budgets_; ++i) sums[i] = rooms_[i].decided;
    for (int64_t g = 0; g < problem_.stages; ++g)
        if (decided(g)) chosen[g] = only(g);
    order_.clear();
    for (int64_t k = 0; k < open_count_; ++k) {
        const int64_t g = open_[k], first = problem_.starts[g], last = problem_.starts[g + 1];
        double rest = 1, least = INFINITY;
        int64_t lightest = -1, whole = -1;
        for (int64_t o = last - 1; o >= first; --o) {
            const double part = variable_[o] >= 0 ? simplex.value(variable_[o]) : rest;
            rest -= part;
            if (!alive_[o]) continue;
            if (part > 1 - kWhole) whole = o;
            double share = 0;
            for (int64_t i = 0; i < budgets_; ++i)
                share += scales_[i] * static_cast<double>(weight(i, o));
            if (share <= least) least = share, lightest = o;
        }
        chosen[g] = whole >= 0 ? whole : lightest;
        for (int64_t i = 0; i < budgets_; ++i)
            if (__builtin_add_overflow(sums[i], weight(i, chosen[g]), &sums[i])) return;
        for (int64_t o = first; o < last; ++o)
            if (alive_[o] && problem_.profits[o] > problem_.profits[chosen[g]])
                order_.push_back(o);
    }
    const auto loss = [&](int64_t o) { return tops_[stage_of_[o]] - gains_[o]; };
    std::sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
        return loss(a) != loss(b) ? loss(a) < loss(b) : a < b;
    });
    for (const int64_t o : order_) {
        const int64_t now = chosen[stage_of_[o]];
        if (problem_.profits[o] <= problem_.profits[now]) continue;
        bool fit = true;
        for (int64_t i = 0; i < budgets_; ++i)
            fit &= sums[i] - weight(i, now) <= problem_.capacities[i] - weight(i, o);
        if (!fit) continue;
        for (int64_t i = 0; i < budgets_; ++i) sums[i] += weight(i, o) - weight(i, now);
        chosen[stage_of_[o]] = o;
    }
    if (!problem_.exact) exchange(chosen, sums);
    for (int64_t i = 0; i < budgets_; ++i)
        if (problem_.exact ? sums[i] != problem_.capacities[i] : sums[i] > problem_.capacities[i])
            return;
    record(chosen);
}

// Local search: changes the options of two open stages at a time if that raises the profit and
// fits.
template <class Wide>
void Branches<Wide>::exchange(std::vector<int64_t>& chosen, std::vector<int64_t>& sums) {
    std::vector<int64_t> up, down;
    for (int64_t k = 0; k < open_count_; ++k) {
        const int64_t g = open_[k];
        for (int64_t o = problem_.starts[g]; o < problem_.starts[g + 1]; ++o)
            if (alive_[o] && o != chosen[g])
                (problem_.profits[o] > problem_.profits[chosen[g]] ? up : down).push_back(o);
    }
    while (up.size() * down.size() > kMostPairs) thin(up.size() > down.size() ? up : down);
    rounding_work_ += static_cast<int64_t>(up.size() * down.size());
    std::vector<int64_t> left(budgets_);
    for (const int64_t o : up) {
        const int64_t now = chosen[stage_of_[o]];
        const int64_t gain = problem_.profits[o] - problem_.profits[now];
        if (gain <= 0) continue;
        for (int64_t i = 0; i < budgets_; ++i)
            left[i] = problem_.capacities[i] - sums[i] + weight(i, now) - weight(i, o);
        int64_t best = -1, least = gain;
        for (const int64_t other : down) {
            const int64_t g = stage_of_[other];
            if (g == stage_of_[o]) continue;
            const int64_t loss = problem_.profits[chosen[g]] - problem_.profits[other];
            if (loss >= least || loss < 0) continue;
            bool fit = true;
            for (int64_t i = 0; i < budgets_; ++i)
                fit &= weight(i, other) - weight(i, chosen[g]) <= left[i];
            if (fit) least = loss, best = other;
        }
        if (best < 0) continue;
        for (const int64_t next : {o, best}) {
            int64_t& place = chosen[stage_of_[next]];
            for (int64_t i = 0; i < budgets_; ++i) sums[i] += weight(i, next) - weight(i, place);
            place = next;
        }
    }
}

// Stores a feasible choice if it is the best one.
template <class Wide>
void Branches<Wide>::record(const std::vector<int64_t>& chosen) {
    int64_t value = 0;
    for (const int64_t o : chosen) value += problem_.profits[o];
    if (best_ != kNone && value <= best_) return;
    best_ = value;
    chosen_ = chosen;
}

template <class Wide>
bool Branches<Wide>::out_of_time() {
    if (work() < looked_ + kWorkBetween) return false;
    looked_ = work();
    stop_if_interrupted();
    return looked_ > limits_.work || std::chrono::steady_clock::now() > limits_.deadline;
}

template <class Wide>
typename Branches<Wide>::Frame Branches<Wide>::frame(const Branch& second) const {
    return {second, killed_.size(), path_.size(), rooms_, profit_, open_count_, node_bound_};
}

// Selects the next node: backtracks in the dive while the next frame's estimated bound is close to
// the best open node's, else jumps to that node. Returns false if no node is open.
template <class Wide>
bool Branches<Wide>::advance() {
    for (;;) {
        if (!frames_.empty()) {
            double top = waiting_.empty() ? -INFINITY : waiting_.front().rank;
            for (const Frame& frame : frames_) top = std::max(top, frame.second.other_rank);
            const double limit = waiting_branches_ > kMostWaiting
                                     ? -INFINITY
                                     : top - kPatience * (top - static_cast<double>(best_));
            if (best_ == kNone || frames_.back().second.other_rank >= limit) {
                const Frame next = std::move(frames_.back());
                frames_.pop_back();
                back(next);
                if (excluded(next.bound)) continue;
                apply(next.second);
                return true;
            }
            for (const Frame& frame : frames_) {
                if (excluded(frame.bound)) continue;
                std::vector<Branch> path(path_.begin(),
                                         path_.begin() + static_cast<int64_t>(frame.depth));
                path.push_back(frame.second);
                waiting_branches_ += static_cast<int64_t>(path.size());
                waiting_.push_back(
                    {frame.second.other_rank, frame.bound, ++number_, std::move(path)});
                std::push_heap(waiting_.begin(), waiting_.end());
            }
            frames_.clear();
        }
        if (waiting_.empty()) return false;
        std::pop_heap(waiting_.begin(), waiting_.end());
        const Waiting next = std::move(waiting_.back());
        waiting_.pop_back();
        waiting_branches_ -= static_cast<int64_t>(next.path.size());
        if (excluded(next.bound)) continue;
        back(start_);
        for (const Branch& branch : next.path) apply(branch);
        node_bound_ = next.bound;
        return true;
    }
}

template <class Wide>
SearchEnd Branches<Wide>::search(int64_t nodes) {
    const int64_t known = best_;
    start_ = frame({});
    do {
        const bool late = out_of_time();
        if (late || (nodes_ == nodes && best_ > known)) {
            for (const Frame& frame : frames_) node_bound_ = std::max(node_bound_, frame.bound);
            for (const Waiting& node : waiting_) node_bound_ = std::max(node_bound_, node.bound);
            node_bound_ = std::max(node_bound_, best_);
            return late ? SearchEnd::kLimit : SearchEnd::kNodes;
        }
        while (enter()) {
            const Branch first = choose();
            Branch second = first;
            second.first = !first.first;
            frames_.push_back(frame(second));
            apply(first);
        }
    } while (advance());
    node_bound_ = best_;
    return SearchEnd::kProven;
}

}  // namespace mmp::branching
