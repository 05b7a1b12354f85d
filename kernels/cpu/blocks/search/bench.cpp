#include "cpu/blocks/search/bench.h"

#include <algorithm>
#include <compare>

namespace mmp {

// Blocks below kExactArea samples have less exact estimates, so `reserve` counts less for them, by
// kInexactPercent.
constexpr int kExactArea = 128, kInexactPercent = 10;

// Limit of the percentage that `patience` adds to `reserve` and `again`.
constexpr int kMostImpatience = 12;

static int64_t percent(int64_t cost, int share) { return cost / 100 * share; }

template <class Sample>
BlockBench<Sample>::BlockBench(const Sample* source, const BlockPicture<Sample>& picture,
                               const BlockTools& tools, const CellWeights& weights,
                               const BlockEffort& effort, const RoughSearch<Sample>& rough_search,
                               const BlockTrees* trees)
    : source_(source),
      canvas_(picture.height, picture.width, picture.depth, picture.earlier, 0, 0,
              kMargin + (1 << tools.fragment_log2), kMargin + 2 * kMaxSide),
      tools_(tools),
      weights_(weights),
      effort_(effort),
      rough_search_(rough_search),
      trees_(trees),
      latest_(kBlocks) {}

template <class Sample>
void BlockBench<Sample>::start(const BlockPlace& fragment, int32_t step,
                               const BlockPicture<Sample>& picture, const BlockModels& models,
                               const BlockCosts& costs) {
    fragment_ = fragment;
    tools_.step = step;
    models_ = &models;
    costs_ = &costs;
    canvas_.move_to(fragment.row - kMargin, fragment.column - kMargin, picture);
    findings_.clear();
    scratch_.clear();
    std::fill(latest_.begin(), latest_.end(), Latest{});
    leaves_ = 0;
    tried_ = 0;
    memset(shown_, 0, sizeof shown_);
}

template <class Sample>
bool BlockBench<Sample>::worthwhile(const BlockPlace& block, int flag) const {
    const Flag forced = canvas_.forced_flag(block);
    if (forced) return flag == forced;
    if (flag != kLeaf && !may_split(block, flag)) return false;
    return rough_search_.worthwhile(block) >> flag & 1;
}

template <class Sample>
int64_t BlockBench<Sample>::flag_cost(const BlockPlace& block, int flag) const {
    if (canvas_.forced_flag(block)) return 0;
    return mmp::flag_cost(costs_->bit, block, flag, canvas_.above(block), canvas_.left(block),
                          tools_.ternary);
}

// Writes the leaf numbers of the units that a search over a block depends on, and returns their
// number. Units outside the fragment do not matter: they do not change while the fragment is
// searched.
template <class Sample>
int BlockBench<Sample>::surroundings(const BlockPlace& block, uint32_t* around) const {
    constexpr int kReachUnits = kReach >> kUnitLog2;
    const int side = fragment_.height() >> kUnitLog2;
    const int row = (block.row - fragment_.row) >> kUnitLog2;
    const int column = (block.column - fragment_.column) >> kUnitLog2;
    const int height = block.height() >> kUnitLog2, width = block.width() >> kUnitLog2;
    uint32_t* end = around;
    const auto take = [&](int from_row, int to_row, int from, int to) {
        from = std::max(from, 0), to = std::min(to, side);
        for (int r = std::max(from_row, 0); r < std::min(to_row, side); ++r)
            end = std::copy(shown_[r] + from, shown_[r] + std::max(from, to), end);
    };
    // Template matching depends on all decoded samples.
    if (rough_search_.templates(block)) {
        take(0, side, 0, side);
    } else {
        const int after = std::max(height, kReachUnits);
        take(row - kReachUnits, row, column - kReachUnits, column + width + after);
        take(row, row + height + width, column - kReachUnits, column);
    }
    return int(end - around);
}

template <class Sample>
void BlockBench<Sample>::number_units(const BlockPlace& block, uint32_t number) {
    const int row = (block.row - fragment_.row) >> kUnitLog2;
    const int column = (block.column - fragment_.column) >> kUnitLog2;
    for (int i = 0; i < block.height() >> kUnitLog2; ++i)
        std::fill_n(shown_[row + i] + column, block.width() >> kUnitLog2, number);
}

template <class Sample>
void BlockBench<Sample>::show(const BlockPlace& block, const Outcome<Sample>& outcome) {
    if (outcome.node.flag != kLeaf) {
        for (int part = 0; part < kMostParts; ++part)
            if (outcome.parts[part])
                show(part_of(block, outcome.node.flag, part), *outcome.parts[part]);
        return;
    }
    canvas_.write(block, outcome.samples);
    canvas_.mark(block, {uint8_t(block.a), uint8_t(block.b), outcome.node.mode, outcome.node.kind});
    number_units(block, outcome.number);
}

template <class Sample>
void BlockBench<Sample>::hide(const BlockPlace& block) {
    canvas_.mark(block, Unit{});
    number_units(block, 0);
}

// Returns the `rank`-th least of the estimates of modes and transform types.
static int64_t least_estimate(const int64_t (*estimates)[kTransformTypes], int modes, int count) {
    int64_t sorted[kModes * kTransformTypes];
    const int all = modes * kTransformTypes;
    std::copy_n(estimates[0], all, sorted);
    std::sort(sorted, sorted + all);
    return sorted[std::min(all, count) - 1];
}

// Tries the promising modes. `given` is the cost of the symbols that precede the mode.
template <class Sample>
void BlockBench<Sample>::try_modes(const BlockPlace& block, const Sample* source, int64_t given,
                                   Trial<Sample>& trial) {
    const int a = block.a, b = block.b;
    constexpr int kMostCandidates = RoughSearch<Sample>::kMostModes + 4;
    Sample predictions[kMostCandidates][kMaxBlockArea];
    const LikelyModes likely = canvas_.likely_modes(block);
    const auto [above, left] = canvas_.known_references(block);
    const Predictor<Sample> predictor(tools_, canvas_, block, above, left, Decoded(canvas_));
    const uint64_t allowed = predictor.allowed();
    int32_t mode_costs[kAllModes];
    costs_->of_modes(*models_, size_of(a, b), likely, canvas_.planes_context(block), allowed,
                     mode_costs);
    const uint64_t promising = promising_modes(rough_search_.modes(block), likely, allowed);
    struct Candidate {
        int32_t estimate;
        int mode, prediction;
        auto operator<=>(const Candidate&) const = default;
    } candidates[kMostCandidates];
    const int32_t root = root_of(costs_->lambda_fixed), step = independent_step(tools_);
    int count = 0;
    for (uint64_t rest = promising; rest; rest &= rest - 1) {
        const int mode = __builtin_ctzll(rest);
        predictor.predict(mode, predictions[count]);
        const int32_t difference =
            hadamard_difference(source, predictions[count], a, b, canvas_.depth) >>
            costs_->coarser;
        const int32_t estimate = mode_estimate(difference, mode_costs[mode], root);
        candidates[count] = {estimate, mode, count};
        ++count;
    }
    std::sort(candidates, candidates + count);
    const int64_t hopeless = hopeless_estimate(candidates[0].estimate, root);
    const auto& kind_costs = costs_->bit[kind_model(a, b, canvas_.kind_context(block))];
    const int sorted = std::min(count, effort_.tried);
    const bool guesses = effort_.hopeless < kAlways, weighs = tools_.quantisation_matrix > 0;
    const int weight = weights_.of(block);
    WeightedErrors errors[kMostCandidates];
    int tried = 0;
    int64_t energies[kMostCandidates], estimates[kMostCandidates][kTransformTypes], least = kNever;
    int16_t coefficients[kMostCandidates][kTransformTypes][kMaxCoded];
    for (; tried < sorted && candidates[tried].estimate <= hopeless; ++tried) {
        const auto [estimate, mode, number] = candidates[tried];
        const Sample* prediction = predictions[number];
        const int64_t cost = given + mode_costs[mode];
        const int64_t squares =
            squared_difference(source, prediction, block.area(), canvas_.depth);
        if (guesses || weighs)
            errors[tried] = transform_residual(block, source, prediction, squares, mode, tools_,
                                               canvas_.depth, coefficients[tried]);
        const int64_t energy = weighs ? weighed(costs_->of_coefficients(errors[tried].all), weight)
                                      : costs_->of_squares(squares);
        energies[tried] = energy;
        if (!guesses) continue;
        least = std::min(least, cost + kind_costs[kBare] + energy);
        for (int type = 0; type < kTransformTypes; ++type) {
            estimates[tried][type] = kNever;
            if (!type_allowed(tools_, a, b, type)) continue;
            estimates[tried][type] = cost + kind_costs[kTransformed] +
                                     type_cost(tools_, costs_->bit, a, b, family_of(mode), type) +
                                     estimated_cost(coefficients[tried][type], a, b, step, energy,
                                                    weight, *costs_);
            least = std::min(least, estimates[tried][type]);
        }
    }
    int64_t most = guesses ? hopeless_cost(least, effort_.hopeless) : kNever;
    if (guesses && tools_.dependent)
        most = std::min(most, least_estimate(estimates, tried, effort_.trellised));
    for (int n = 0; n < tried; ++n) {
        const auto [estimate, mode, number] = candidates[n];
        const Sample* prediction = predictions[number];
        const int64_t cost = given + mode_costs[mode];
        trial.try_bare(block, prediction, mode, cost + kind_costs[kBare], energies[n]);
        if (cost + kind_costs[kTransformed] >= trial.cost) continue;
        if (!guesses && !weighs)
            transform_residual(block, source, prediction, 0, mode, tools_, canvas_.depth,
                               coefficients[n]);
        for (int type = 0; type < kTransformTypes; ++type) {
            if (!type_allowed(tools_, a, b, type)) continue;
            if (guesses && estimates[n][type] > most) continue;
            if (guesses && tools_.dependent &&
                percent(estimates[n][type], kTrellisPercent) >= trial.cost)
                continue;
            trial.try_residual(block, source, prediction, coefficients[n][type], errors[n].rest,
                               weight, mode, type, cost + kind_costs[kTransformed], tools_,
                               canvas_.depth, *costs_);
        }
    }
}

template <class Sample>
auto BlockBench<Sample>::whole(const BlockPlace& block, int64_t bound) -> Found {
    ++tried_;
    const int a = block.a, b = block.b;
    Sample source[kMaxBlockArea];
    take_block(source_, canvas_.width, block, source);
    Trial<Sample> trial;
    trial.cost = bound;
    int64_t given = flag_cost(block, kLeaf);
    const FoundTree* tree = nullptr;
    if (trees_ && trees_->allowed(block)) {
        const auto& bit = costs_->bit[tree_model(a, b, canvas_.tree_context(block))];
        tree = rough_search_.tree(block);
        if (tree && given + bit[1] + tree->cost < trial.cost) {
            trial.cost = given + bit[1] + tree->cost;
            trial.node = {kLeaf, kTreeMode, kTree, 0, 0, 0};
            if constexpr (kIsByte<Sample>) trees_->build(block, tree->nodes, trial.samples);
        }
        given += bit[0];
    }
    if (rough_search_.may_be_predicted(block)) try_modes(block, source, given, trial);
    if (trial.cost >= bound) return nullptr;
    Outcome<Sample> outcome{trial.cost, ++leaves_, trial.node, {}, nullptr, nullptr, nullptr};
    Sample* samples = scratch_.take<Sample>(block.area());
    outcome.samples = std::copy_n(trial.samples, block.area(), samples) - block.area();
    if (trial.node.kind == kTransformed) {
        const int count = scan_of(a, b).count;
        outcome.levels = std::copy_n(trial.levels, count, scratch_.take<int16_t>(count)) - count;
    }
    if (trial.node.kind == kTree) outcome.tree = tree;
    return scratch_.make(outcome);
}

// Percentage that `patience` adds to `reserve` and `again`; it grows with the number of blocks
// tried.
template <class Sample>
int BlockBench<Sample>::impatience() const {
    return effort_.patience ? std::min(tried_ / effort_.patience, kMostImpatience) : 0;
}

// A block or flag is tried again only if this percentage of its latest cost is below the bound.
template <class Sample>
int BlockBench<Sample>::again() const {
    return effort_.again ? std::min(effort_.again + impatience(), 100) : 0;
}

// Lower estimate of the cost of a block, which is taken off the bound of the parts before it.
template <class Sample>
int64_t BlockBench<Sample>::expected(const BlockPlace& block) {
    if (!effort_.reserve) return 0;
    if (const int64_t before = latest(block).least; effort_.again && before)
        return percent(before, again());
    const int64_t estimate = rough_search_.estimate(block);
    if (estimate >= kNever) return 0;  // the rough search skips some blocks at the border of the picture
    const int less = block.area() < kExactArea ? kInexactPercent : 0;
    return percent(estimate, effort_.reserve + impatience() - less);
}

// Lists the flags (leaf and splits) that are worth a trial, and returns their number.
template <class Sample>
int BlockBench<Sample>::ways_of(const BlockPlace& block, Way* ways) {
    const Latest& latest = this->latest(block);
    int count = 0;
    for (int flag = kLeaf; flag < kBlockFlags; ++flag) {
        if (!worthwhile(block, flag)) continue;
        const int64_t before = latest.with_flag[flag];
        ways[count++] = {flag, before ? before : rough_search_.estimate(block, flag), before > 0};
    }
    // Cheapest first: its cost then is a tight bound for the others.
    if (effort_.reserve)
        std::stable_sort(ways, ways + count,
                         [](const Way& one, const Way& other) { return one.cost < other.cost; });
    return count;
}

template <class Sample>
auto BlockBench<Sample>::split(const BlockPlace& block, int flag, int64_t bound) -> Found {
    Outcome<Sample> outcome{flag_cost(block, flag), 0, {}, {}, nullptr, nullptr, nullptr};
    outcome.node.flag = uint8_t(flag);
    const int parts = parts_of(flag);
    int shown = 0;
    bool found = outcome.cost < bound;
    for (int part = 0; found && part < parts; ++part) {
        const BlockPlace place = part_of(block, flag, part);
        if (canvas_.is_outside(place)) break;
        int64_t later = 0;  // expected cost of the parts that follow
        for (int next = part + 1; next < parts; ++next)
            if (const BlockPlace other = part_of(block, flag, next); !canvas_.is_outside(other))
                later += expected(other);
        outcome.parts[part] = search(place, bound - outcome.cost - later);
        found = outcome.parts[part];
        if (!found) break;
        outcome.cost += outcome.parts[part]->cost;
        if (part + 1 < parts) show(place, *outcome.parts[part]), ++shown;
    }
    while (shown) hide(part_of(block, flag, --shown));
    return found ? scratch_.make(outcome) : nullptr;
}

template <class Sample>
auto BlockBench<Sample>::search(const BlockPlace& block, int64_t bound) -> Found {
    uint32_t around[kUnitsAcross * kUnitsAcross];
    const int count = surroundings(block, around);
    const int number = number_in(block, fragment_.row, fragment_.column);
    if (const Finding<Sample>* same = findings_.find(number, around, count)) {
        if (same->outcome) return same->outcome->cost < bound ? same->outcome : nullptr;
        if (bound <= same->bound) return nullptr;
    }
    Latest& latest = this->latest(block);
    if (percent(latest.least, again()) >= bound) return nullptr;
    Found best = nullptr;
    int64_t least = bound;
    Way ways[kBlockFlags];
    const int number_of_ways = ways_of(block, ways);
    for (int i = 0; i < number_of_ways; ++i) {
        const auto [flag, cost, was_tried] = ways[i];
        if (was_tried && percent(cost, again()) >= least) continue;
        const Found outcome = flag == kLeaf ? whole(block, least) : split(block, flag, least);
        int64_t& latest_cost = latest.with_flag[flag];
        latest_cost = outcome ? outcome->cost : std::max(latest_cost, least);
        if (outcome) best = outcome, least = best->cost;
    }
    latest.least = best ? best->cost : std::max(latest.least, bound);
    findings_.add(number, around, count, bound, best, scratch_);
    return best;
}

template class BlockBench<uint8_t>;
template class BlockBench<uint16_t>;

}  // namespace mmp
