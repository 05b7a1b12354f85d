#include "cpu/solvers/knapsack/branches/branches.h"

#include <bit>
#include <cmath>

#include "cpu/solvers/knapsack/branches/walk.h"

namespace mmp {

namespace {

using namespace branching;

constexpr int64_t kFirstNodes = 300, kMoreNodes = 8;  // nodes before the first restart; growth

// The reduced problem: the options and stages that the solved root leaves open.
class Rest {
public:
    template <class Wide>
    Rest(const BranchProblem& problem, const Branches<Wide>& root) {
        const auto budgets = static_cast<int64_t>(problem.capacities.size());
        capacities_ = problem.capacities;
        for (int64_t g = 0; g < problem.stages; ++g) {
            const auto first = static_cast<int64_t>(names_.size());
            for (int64_t o = problem.starts[g]; o < problem.starts[g + 1]; ++o)
                if (root.alive(o)) names_.push_back(o);
            if (static_cast<int64_t>(names_.size()) > first + 1) {
                starts_.push_back(first);
                continue;
            }
            const int64_t only = names_.back();
            names_.pop_back();
            settled_.push_back(only);
            profit_ += problem.profits[only];
            for (int64_t i = 0; i < budgets; ++i)
                capacities_[i] -= problem.weights[only * budgets + i];
        }
        starts_.push_back(static_cast<int64_t>(names_.size()));
        for (const int64_t o : names_) {
            profits_.push_back(problem.profits[o]);
            for (int64_t i = 0; i < budgets; ++i)
                weights_.push_back(problem.weights[o * budgets + i]);
        }
        problem_ = {profits_.data(), weights_.data(), starts_.data(),
                    static_cast<int64_t>(starts_.size()) - 1, capacities_, problem.exact};
    }

    const BranchProblem& problem() const { return problem_; }
    int64_t profit() const { return profit_; }
    const std::vector<int64_t>& settled() const { return settled_; }
    int64_t name(int64_t option) const { return names_[option]; }

private:
    std::vector<int64_t> profits_, weights_, starts_, capacities_, names_, settled_;
    int64_t profit_ = 0;
    BranchProblem problem_{};
};

// Restarted branch and bound for one problem. Each run solves the root and searches the reduced
// problem.
template <class Wide>
class Searches {
public:
    Searches(const BranchProblem& problem, int64_t known, const BranchLimits& limits, int shift)
        : problem_(problem), limits_(limits), shift_(shift), answer_{false, known, INT64_MAX, 0} {}

    // Restarts from the root if the search found a better choice within its node limit, because
    // variable fixing at the root then removes more options.
    BranchAnswer run(int64_t* choices) {
        SearchEnd end = SearchEnd::kNodes;
        for (int64_t nodes = kFirstNodes; end == SearchEnd::kNodes; nodes *= kMoreNodes)
            end = search(answer_.value, nodes);
        answer_.proven = end == SearchEnd::kProven;
        for (size_t g = 0; g < chosen_.size(); ++g)
            choices[g] = chosen_[g] - problem_.starts[g];
        return answer_;
    }

private:
    // Searches for choices with more profit than `known`.
    SearchEnd search(int64_t known, int64_t nodes) {
        Branches<Wide> root(problem_, known, answer_.bound, limits_, shift_);
        const bool open = root.enter();
        ++answer_.nodes;
        limits_.work -= root.work();
        if (root.better()) {
            answer_.value = root.value();
            chosen_.clear();
            for (int64_t g = 0; g < problem_.stages; ++g) chosen_.push_back(root.chosen(g));
        }
        if (!open) {
            answer_.bound = root.value();
            return SearchEnd::kProven;
        }
        const Rest rest(problem_, root);
        const int64_t above = root.value() == kNone ? kNone : root.value() - rest.profit();
        Branches<Wide> inner(rest.problem(), above, root.bound() - rest.profit(), limits_, shift_);
        const SearchEnd end = inner.search(nodes);
        answer_.nodes += inner.nodes();
        limits_.work -= inner.work();
        if (inner.better()) {
            answer_.value = inner.value() + rest.profit();
            chosen_ = rest.settled();
            for (int64_t g = 0; g < rest.problem().stages; ++g)
                chosen_.push_back(rest.name(inner.chosen(g)));
            std::sort(chosen_.begin(), chosen_.end());
        }
        answer_.bound = inner.bound() == kNone ? kNone : inner.bound() + rest.profit();
        return end;
    }

    const BranchProblem& problem_;
    BranchLimits limits_;
    const int shift_;
    BranchAnswer answer_;
    std::vector<int64_t> chosen_;
};

// Number of bits of the largest ratio, over all budgets, of the sum of the heaviest options of all
// stages to the capacity.
int crowding(const BranchProblem& problem) {
    const auto budgets = static_cast<int64_t>(problem.capacities.size());
    double most = 1;
    for (int64_t i = 0; i < budgets; ++i) {
        double sum = 0;
        for (int64_t g = 0; g < problem.stages; ++g) {
            int64_t heaviest = 0;
            for (int64_t o = problem.starts[g]; o < problem.starts[g + 1]; ++o)
                heaviest = std::max(heaviest, problem.weights[o * budgets + i]);
            sum += static_cast<double>(heaviest);
        }
        most = std::max(most, sum / std::max(static_cast<double>(problem.capacities[i]), 1.0));
    }
    return std::ilogb(most) + 1;
}

}  // namespace

BranchAnswer knapsack_branches(const BranchProblem& problem, int64_t known,
                               const BranchLimits& limits, int64_t* choices) {
    uint64_t magnitude = 0;
    for (int64_t g = 0; g < problem.stages; ++g) {
        uint64_t most = 0;
        for (int64_t o = problem.starts[g]; o < problem.starts[g + 1]; ++o)
            most = std::max(most, static_cast<uint64_t>(std::abs(problem.profits[o])));
        magnitude += most;
    }
    const int64_t largest = *std::max_element(problem.capacities.begin(), problem.capacities.end());
    // Capacities times dual prices are about the sum of the profits. Weights times prices exceed it
    // where weights exceed the capacity, and must not overflow either.
    const int bits = static_cast<int>(std::bit_width(magnitude)) + crowding(problem);
    // Rounding a price changes the bound by at most half the capacity.
    const int needed = static_cast<int>(std::bit_width(static_cast<uint64_t>(largest)) +
                                        std::bit_width(problem.capacities.size()) + 4);
    if (needed <= 60 - bits)
        return Searches<int64_t>(problem, known, limits, std::min(60 - bits, needed + 8))
            .run(choices);
    const int shift = std::clamp(119 - bits, 0, needed);
    return Searches<Int128>(problem, known, limits, shift).run(choices);
}

}  // namespace mmp
