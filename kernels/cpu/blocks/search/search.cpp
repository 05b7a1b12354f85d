#include "cpu/blocks/search/search.h"

#include <string.h>

#include <algorithm>
#include <array>
#include <compare>

namespace mmp {

namespace {

// The canvas holds this many rows and columns before a fragment, enough for all places of
// templates.
constexpr int kMargin = kTemplateColumns + kUnit;
static_assert(kMargin >= 2 * kReach && kMargin >= kTemplateRows + kTemplateWidth);
constexpr size_t kMostFindings = 6;

template <class Sample>
struct Outcome {
    int64_t cost = kNever;
    BlockPlan plan;
    std::vector<Sample> samples;
    std::vector<Unit> units;
};

// The result of a search over a block and the surroundings that it depends on. If no plan costs
// less than `bound`, the outcome is null.
template <class Sample>
struct Finding {
    std::vector<uint8_t> around;
    int64_t bound;
    std::shared_ptr<const Outcome<Sample>> outcome;
};

}  // namespace

// Tries blocks on a canvas: a copy of the decoded samples in and around one fragment.
template <class Sample>
class BlockBench {
public:
    using Found = std::shared_ptr<const Outcome<Sample>>;

    BlockBench(const Sample* source, int height, int width, Depth<Sample> depth,
               const BlockTools& tools, const BlockEffort& effort,
               const BlockSurvey<Sample>& survey, const BlockTrees* trees)
        : source_(source),
          canvas_(height, width, depth, 0, 0, kMargin + kMaxSide, kMargin + 2 * kMaxSide),
          tools_(tools),
          effort_(effort),
          survey_(survey),
          trees_(trees),
          findings_(kBlocks) {}

    void start(const BlockPlace& fragment, const BlockPicture<Sample>& picture,
               const BlockModels& models, const BlockCosts& costs) {
        fragment_ = fragment;
        models_ = &models;
        costs_ = &costs;
        canvas_.move_to(fragment.row - kMargin, fragment.column - kMargin, picture);
        for (auto& findings : findings_) findings.clear();
    }

    // Returns the best plan that costs less than the bound, or null.
    Found search(const BlockPlace& block, int64_t bound);
    Found whole(const BlockPlace& block, int64_t bound);
    void try_modes(const BlockPlace& block, const Sample* source, int64_t given,
                   Trial<Sample>& trial);
    Found split(const BlockPlace& block, int flag, int64_t bound);
    bool worthwhile(const BlockPlace& block, int flag) const;

private:
    void surroundings(const BlockPlace& block, std::vector<uint8_t>& around) const;
    int64_t flag_cost(const BlockPlace& block, int flag) const;
    void show(const BlockPlace& block, const Outcome<Sample>& outcome);
    std::shared_ptr<Outcome<Sample>> gathered(const BlockPlace& block) const;

    const Sample* source_;
    BlockPicture<Sample> canvas_;
    const BlockTools tools_;
    const BlockEffort effort_;
    const BlockSurvey<Sample>& survey_;
    const BlockTrees* trees_;  // null without a dictionary
    BlockPlace fragment_{};
    const BlockModels* models_ = nullptr;
    const BlockCosts* costs_ = nullptr;
    std::vector<std::vector<Finding<Sample>>> findings_;  // by number of the block
};

template <class Sample>
bool BlockBench<Sample>::worthwhile(const BlockPlace& block, int flag) const {
    const Flag forced = canvas_.forced_flag(block);
    if (forced) return flag == forced;
    if (flag != kLeaf && !may_split(block, flag)) return false;
    return survey_.worthwhile(block) >> flag & 1;
}

template <class Sample>
int64_t BlockBench<Sample>::flag_cost(const BlockPlace& block, int flag) const {
    if (canvas_.forced_flag(block)) return 0;
    return mmp::flag_cost(costs_->bit, block, flag, canvas_.above(block), canvas_.left(block));
}

// Gathers all data that a search over a block depends on: one or more bytes per unit around it.
template <class Sample>
void BlockBench<Sample>::surroundings(const BlockPlace& block, std::vector<uint8_t>& around) const {
    around.clear();
    const int length = block.height() + block.width();
    const auto take = [&](int row, int column, bool beside) {
        if (!canvas_.known(row, column)) return around.push_back(0);
        const Unit& unit = canvas_.unit(row, column);
        const Sample* from = canvas_.at(row, column);
        uint8_t bytes[1 + sizeof(Unit) + kUnit * kUnit * sizeof(Sample)] = {1};
        constexpr size_t kRow = kUnit * sizeof(Sample);
        if (beside) memcpy(bytes + 1, &unit, sizeof unit);
        for (int i = 0; i < kUnit; ++i)
            memcpy(bytes + 1 + sizeof unit + i * kRow, from + i * canvas_.stride(), kRow);
        around.insert(around.end(), bytes, bytes + sizeof bytes);
    };
    for (int row = block.row - kReach; row < block.row; row += kUnit)
        for (int j = -kReach; j < std::max(length, block.width() + kReach); j += kUnit)
            take(row, block.column + j, row == block.row - kUnit && j >= 0 && j < block.width());
    for (int i = 0; i < length; i += kUnit)
        for (int j = -kReach; j < 0; j += kUnit)
            take(block.row + i, block.column + j, j == -kUnit && i < block.height());
    if (!survey_.templates(block)) return;
    // Farther samples do not change between searches in a fragment, except those of the fragment.
    const int side = fragment_.height();
    for (int row = fragment_.row; row < fragment_.row + side; row += kUnit)
        for (int column = fragment_.column; column < fragment_.column + side; column += kUnit)
            take(row, column, false);
}

template <class Sample>
void BlockBench<Sample>::show(const BlockPlace& block, const Outcome<Sample>& outcome) {
    canvas_.write(block, outcome.samples.data());
    const Unit* unit = outcome.units.data();
    for (int i = 0; i < block.height(); i += kUnit)
        for (int j = 0; j < block.width(); j += kUnit, ++unit)
            if (i < canvas_.shown_height(block) && j < canvas_.shown_width(block))
                canvas_.unit(block.row + i, block.column + j) = *unit;
}

template <class Sample>
std::shared_ptr<Outcome<Sample>> BlockBench<Sample>::gathered(const BlockPlace& block) const {
    auto outcome = std::make_shared<Outcome<Sample>>();
    outcome->samples.resize(block.height() * block.width());
    canvas_.read(block, outcome->samples.data());
    for (int i = 0; i < block.height(); i += kUnit)
        for (int j = 0; j < block.width(); j += kUnit)
            outcome->units.push_back(canvas_.holds(block.row + i, block.column + j)
                                         ? canvas_.unit(block.row + i, block.column + j)
                                         : Unit{});
    return outcome;
}

// Tries the promising modes. `given` is the cost of the symbols before the mode.
template <class Sample>
void BlockBench<Sample>::try_modes(const BlockPlace& block, const Sample* source, int64_t given,
                                   Trial<Sample>& trial) {
    const int a = block.a, b = block.b;
    constexpr int kMostCandidates = BlockSurvey<Sample>::kMostModes + 4;
    Sample predictions[kMostCandidates][kMaxBlockArea];
    const LikelyModes likely = canvas_.likely_modes(block);
    const Predictor<Sample> predictor(tools_, canvas_, block);
    const uint64_t allowed = predictor.allowed();
    int32_t mode_costs[kModes];
    costs_->of_modes(*models_, size_of(a, b), likely, allowed, mode_costs);
    const uint64_t promising = promising_modes(survey_.modes(block), likely, allowed);
    struct Candidate {
        int32_t estimate;
        int mode, prediction;
        auto operator<=>(const Candidate&) const = default;
    } candidates[kMostCandidates];
    const int32_t root = root_of(costs_->lambda_fixed);
    int count = 0;
    for (uint64_t rest = promising; rest; rest &= rest - 1) {
        const int mode = __builtin_ctzll(rest);
        predictor.predict(mode, predictions[count]);
        const int32_t difference =
            hadamard_difference(source, predictions[count], a, b) >> costs_->coarser;
        const int32_t estimate = mode_estimate(difference, mode_costs[mode], root);
        candidates[count] = {estimate, mode, count};
        ++count;
    }
    std::sort(candidates, candidates + count);
    const int64_t hopeless = hopeless_estimate(candidates[0].estimate, root);
    const auto& kind_costs = costs_->bit[kind_model(a, b, canvas_.kind_context(block))];
    for (int n = 0; n < std::min(count, effort_.tried); ++n) {
        const auto [estimate, mode, number] = candidates[n];
        if (estimate > hopeless) break;
        const int64_t cost = given + mode_costs[mode];
        trial.try_bare(block, source, predictions[number], mode, cost + kind_costs[kBare],
                       *costs_);
        trial.try_residual(block, source, predictions[number], mode,
                           cost + kind_costs[kTransformed], tools_.step, canvas_.depth, *costs_);
    }
}

template <class Sample>
auto BlockBench<Sample>::whole(const BlockPlace& block, int64_t bound) -> Found {
    const int a = block.a, b = block.b, area = block.height() * block.width();
    Sample source[kMaxBlockArea];
    take_block(source_, canvas_.width, block, source);
    Trial<Sample> trial;
    trial.cost = bound;
    int64_t given = flag_cost(block, kLeaf);
    const FoundTree* tree = nullptr;
    if (trees_ && trees_->allowed(block)) {
        const auto& bit = costs_->bit[tree_model(a, b, canvas_.tree_context(block))];
        tree = survey_.tree(block);
        if (tree && given + bit[1] + tree->cost < trial.cost) {
            trial.cost = given + bit[1] + tree->cost;
            trial.node = {kLeaf, kTreeMode, kTree, 0, 0, uint32_t(tree->nodes.size())};
            if constexpr (kIsByte<Sample>) trees_->build(block, tree->nodes, trial.samples);
        }
        given += bit[0];
    }
    if (survey_.may_be_predicted(block)) try_modes(block, source, given, trial);
    if (trial.cost >= bound) return nullptr;
    auto outcome = std::make_shared<Outcome<Sample>>();
    outcome->cost = trial.cost;
    outcome->plan.nodes.push_back(trial.node);
    if (trial.node.kind == kTransformed)
        outcome->plan.levels.assign(trial.levels, trial.levels + scan_of(a, b).count);
    if (trial.node.kind == kTree) outcome->plan.trees = tree->nodes;
    outcome->samples.assign(trial.samples, trial.samples + area);
    outcome->units.assign(area >> (2 * kUnitLog2),
                          {uint8_t(a), uint8_t(b), trial.node.mode, trial.node.kind});
    return outcome;
}

template <class Sample>
auto BlockBench<Sample>::split(const BlockPlace& block, int flag, int64_t bound) -> Found {
    int64_t cost = flag_cost(block, flag);
    Found halves[2];
    for (int half = 0; half < 2; ++half) {
        const BlockPlace place = half_of(block, flag, half);
        if (canvas_.is_outside(place) || cost >= bound) continue;
        halves[half] = search(place, bound - cost);
        if (!halves[half]) {
            cost = kNever;
            break;
        }
        show(place, *halves[half]);
        cost += halves[half]->cost;
    }
    std::shared_ptr<Outcome<Sample>> outcome;
    if (cost < bound) {
        outcome = gathered(block);
        outcome->cost = cost;
        BlockNode node;
        node.flag = uint8_t(flag);
        outcome->plan.nodes.push_back(node);
        for (const auto& half : halves)
            if (half) outcome->plan.append(half->plan);
    }
    canvas_.mark(block, Unit{});
    return outcome;
}

template <class Sample>
auto BlockBench<Sample>::search(const BlockPlace& block, int64_t bound) -> Found {
    std::vector<uint8_t> around;
    surroundings(block, around);
    auto& findings = findings_[number_in(block, fragment_.row, fragment_.column)];
    auto same = std::find_if(findings.begin(), findings.end(),
                             [&](const Finding<Sample>& f) { return f.around == around; });
    if (same != findings.end()) {
        if (same->outcome) return same->outcome->cost < bound ? same->outcome : nullptr;
        if (bound <= same->bound) return nullptr;
        findings.erase(same);
    }
    Found best;
    int64_t least = bound;
    const auto take = [&](Found outcome) {
        if (outcome) best = std::move(outcome), least = best->cost;
    };
    if (worthwhile(block, kLeaf)) take(whole(block, least));
    for (int flag = kColumns; flag <= kRows; ++flag)
        if (worthwhile(block, flag)) take(split(block, flag, least));
    if (findings.size() == kMostFindings) findings.erase(findings.begin());
    findings.push_back({std::move(around), bound, best});
    return best;
}

template <class Sample>
BlockSearch<Sample>::BlockSearch(const Sample* source, const BlockPicture<Sample>& picture,
                                 const BlockTools& tools, const BlockEffort& effort,
                                 BlockTreeSearch* trees, ThreadTeam& team)
    : picture_(picture),
      tools_(tools),
      team_(team),
      survey_(source, picture.height, picture.width, picture.depth, tools, effort, trees) {
    for (int i = 0; i < 2; ++i)
        benches_.push_back(std::make_unique<BlockBench<Sample>>(
            source, picture.height, picture.width, picture.depth, tools, effort, survey_,
            trees ? &trees->trees : nullptr));
}

template <class Sample>
BlockSearch<Sample>::~BlockSearch() = default;

template <class Sample>
void BlockSearch<Sample>::find(int row, int column, const BlockModels& models,
                               const BlockCosts& costs, BlockPlan& plan) {
    fragment_ = {row, column, tools_.fragment_log2, tools_.fragment_log2};
    survey_.look(row, column, costs, team_);
    for (const auto& bench : benches_) bench->start(fragment_, picture_, models, costs);
    std::shared_ptr<const Outcome<Sample>> best;
    if (benches_[0]->worthwhile(fragment_, kLeaf)) best = benches_[0]->whole(fragment_, kNever);
    const int64_t bound = best ? best->cost : kNever;
    std::shared_ptr<const Outcome<Sample>> splits[2];
    team_.run(2, [&](uint32_t way) {
        if (benches_[way]->worthwhile(fragment_, kColumns + int(way)))
            splits[way] = benches_[way]->split(fragment_, kColumns + int(way), bound);
    });
    for (const auto& split : splits)
        if (split && (!best || split->cost < best->cost)) best = split;
    plan = best->plan;
    samples_ = best->samples;
}

template <class Sample>
void BlockSearch<Sample>::write(BlockPicture<Sample>& picture) const {
    picture.write(fragment_, samples_.data());
}

template class BlockSearch<uint8_t>;
template class BlockSearch<uint16_t>;

}  // namespace mmp
