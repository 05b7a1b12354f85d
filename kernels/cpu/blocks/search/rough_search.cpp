#include "cpu/blocks/search/rough_search.h"

#include <algorithm>
#include <compare>

#include "shared/blocks/estimate.h"

namespace mmp {

template <class Sample>
RoughSearch<Sample>::RoughSearch(const Sample* source, const BlockPicture<Sample>& coarse,
                                 const BlockTools& tools, const CellWeights& weights,
                                 const BlockEffort& effort, BlockTreeSearch* trees)
    : coarse_(coarse),
      source_(source),
      tools_(tools),
      weights_(weights),
      effort_(effort),
      trees_(trees),
      seen_(kBlocks),
      found_(kBlocks) {}

template <class Sample>
int64_t RoughSearch<Sample>::split_cost(const BlockPlace& block, int flag) const {
    int64_t parts = 0;
    for (int part = 0; part < parts_of(flag); ++part) parts += at(part_of(block, flag, part)).least;
    return guessed_split_cost(parts) + split_penalty_;
}

template <class Sample>
int RoughSearch<Sample>::worthwhile(const BlockPlace& block) const {
    const Seen& seen = at(block);
    const int slack =
        is_aligned(block) ? effort_.slack : smaller(effort_.slack, effort_.ternary);
    const int64_t most = worthwhile_cost(seen.least, slack);
    int worth = seen.whole() <= most;
    for (int flag = kColumns; flag <= kRows; ++flag)
        if (may_follow(block, flag, effort_)) worth |= (split_cost(block, flag) <= most) << flag;
    if (!tools_.ternary || effort_.ternary < 0) return worth;
    const int64_t most_ternary = worthwhile_cost(seen.least, effort_.ternary);
    for (int flag = kThreeColumns; flag <= kThreeRows; ++flag)
        if (may_follow(block, flag, effort_))
            worth |= (split_cost(block, flag) <= most_ternary) << flag;
    return worth;
}

// Returns whether the sample at (row, column) is decoded before the block.
template <class Sample>
bool RoughSearch<Sample>::decoded_before(const BlockPlace& block, int row, int column) const {
    if (row < row_) return true;
    if (row < block.row) return column < block.column + block.width();
    if (row < block.row + block.height()) return column < block.column;
    return row < std::min(row_ + (1 << tools_.fragment_log2), coarse_.height) && column < column_;
}

// Best modes of the two halves of an oblong block and of the block that it is a half of; all three
// are less oblong.
template <class Sample>
uint64_t RoughSearch<Sample>::inherited_modes(const BlockPlace& block) const {
    const int flag = block.b > block.a ? kColumns : kRows;
    uint64_t modes = 0;
    for (int half = 0; half < 2; ++half)
        modes |= uint64_t{1} << at(part_of(block, flag, half)).best[0];
    BlockPlace around = block;
    if (flag == kColumns)
        around.row = row_ + ((block.row - row_) & -(2 << block.a)), ++around.a;
    else
        around.column = column_ + ((block.column - column_) & -(2 << block.b)), ++around.b;
    for (const int mode : at(around).best) modes |= uint64_t{1} << mode;
    return modes;
}

// Best modes of the aligned blocks of equal shape that overlap a block, which only a ternary split
// creates.
template <class Sample>
uint64_t RoughSearch<Sample>::overlapping_modes(const BlockPlace& block) const {
    uint64_t modes = 0;
    const int top = block.row & -block.height(), left = block.column & -block.width();
    for (int row = top; row < block.row + block.height(); row += block.height())
        for (int column = left; column < block.column + block.width(); column += block.width())
            for (const int mode : at({row, column, block.a, block.b}).best)
                modes |= uint64_t{1} << mode;
    return modes;
}

// Modes that a block inherits from other blocks; all modes for an aligned square.
template <class Sample>
uint64_t RoughSearch<Sample>::modes_around(const BlockPlace& block) const {
    if (!is_aligned(block)) return overlapping_modes(block);
    return block.a == block.b ? ~uint64_t{0} : inherited_modes(block);
}

// The modes whose prediction the rough search has compared, with their SATD.
struct ModeRanking {
    struct Candidate {
        int32_t difference;
        int mode;
        auto operator<=>(const Candidate&) const = default;
    };

    void add(int mode, int32_t difference) { candidates[count++] = {difference, mode}; }
    // Moves the `most` modes of least SATD to the front, sorted.
    void sort(int most) {
        std::partial_sort(candidates, candidates + std::min(most, count), candidates + count);
    }

    Candidate candidates[kAllModes];
    int count = 0;
};

// Computes the SATD of the angles that the effort allows.
template <class Sample>
void RoughSearch<Sample>::look_at_angles(const BlockPlace& block, const BlockCosts& costs,
                                         ModeDifferences<Sample>& of_modes, ModeRanking& ranking) {
    constexpr uint64_t kEvery = (uint64_t{1} << kAngles) - 1;
    int32_t differences[kAngles];
    const auto look = [&](uint64_t angles) {
        of_modes.of_angles(angles, differences);
        for (; angles; angles &= angles - 1) {
            const int angle = __builtin_ctzll(angles);
            ranking.add(kFirstAngle + angle, differences[angle] >> costs.coarser);
        }
    };
    if (effort_.every_angle) return look(kEvery);
    if (!is_aligned(block) || block.a != block.b)
        return look(modes_around(block) >> kFirstAngle & kEvery);
    constexpr int kCoarseAngles = 4;
    uint64_t which = 0;
    for (int angle = 0; angle < kAngles; angle += kCoarseAngles) which |= uint64_t{1} << angle;
    look(which);
    int best = 0;
    for (int angle = 0; angle < kAngles; angle += kCoarseAngles)
        if (differences[angle] < differences[best]) best = angle;
    for (int apart = kCoarseAngles / 2; apart; apart /= 2) {
        const int middle = best;
        which = 0;
        for (const int angle : {middle - apart, middle + apart})
            if (angle >= 0 && angle < kAngles) which |= uint64_t{1} << angle;
        look(which);
        for (; which; which &= which - 1) {
            const int angle = __builtin_ctzll(which);
            if (differences[angle] < differences[best]) best = angle;
        }
    }
}

// Number of samples above and number left of a block that may be decoded before it.
template <class Sample>
std::pair<int, int> RoughSearch<Sample>::reach_of(const BlockPlace& block) const {
    const int length = block.height() + block.width();
    const int right = block.row == row_ ? coarse_.width : block.column + block.width();
    const int bottom =
        std::min(block.column == column_ ? row_ + (1 << tools_.fragment_log2)
                                         : block.row + block.height(),
                 coarse_.height);
    return {block.row ? std::min(right - block.column, length) : 0,
            block.column ? std::min(bottom - block.row, length) : 0};
}

// Whether a block lies in an aligned square that is settled, so that it needs no survey.
template <class Sample>
bool RoughSearch<Sample>::is_settled(const BlockPlace& block) const {
    const int last_row = block.row + block.height() - 1, last = block.column + block.width() - 1;
    for (int log2 = std::max(block.a, block.b); log2 <= tools_.fragment_log2; ++log2) {
        const int start = -1 << log2;
        if ((block.row ^ last_row) & start || (block.column ^ last) & start) continue;
        const BlockPlace square{block.row & start, block.column & start, log2, log2};
        if (square.a > block.a || square.b > block.b) return at(square).settled;
    }
    return false;
}

template <class Sample>
void RoughSearch<Sample>::look_at(const BlockPlace& block, const BlockCosts& costs) {
    Seen& seen = at(block);
    seen = {0, 0, kNever, 0, {kAverage, kPlanar}, false, false};
    if (coarse_.is_outside(block)) return;
    seen.predicted = kNever;
    if (coarse_.forced_flag(block) || too_long(block, effort_)) return;
    if (effort_.settled && !trees_ && is_settled(block)) {
        seen.predicted = kSkipped;
        seen.settled = true;
        return;
    }
    const int a = block.a, b = block.b;
    Sample source[kMaxBlockArea];
    take_block(source_, coarse_.width, block, source);
    const auto [above, beside] = reach_of(block);
    const auto decoded = [&](int row, int column) { return decoded_before(block, row, column); };
    const Predictor<Sample> predictor(tools_, coarse_, block, above, beside, Decoded(decoded));
    ModeRanking ranking;
    const auto& candidates = ranking.candidates;
    // Predictions that may be needed again; all angles share one buffer.
    Sample predictions[(kAllModes - kAngles + 1) * kMaxBlockArea];
    const auto prediction_of = [&](int mode) {
        const int place = mode >= kTemplates ? mode - kAngles + 1 : std::min<int>(mode, kFirstAngle);
        return predictions + place * block.area();
    };
    const auto look = [&](int mode) {
        predictor.predict(mode, prediction_of(mode));
        return hadamard_difference(source, prediction_of(mode), a, b, coarse_.depth) >>
               costs.coarser;
    };
    // Whether the mean difference per sample, times the factor, is at least the quantisation step
    // in 1/16 of a sample's unit.
    const auto is_large = [&](int32_t difference, int factor, int32_t step) {
        return factor == kAlways || factor * int64_t{difference} >=
                                        int64_t{step} << (a + b + costs.finer);
    };
    for (const int mode : {kAverage, kPlanar}) ranking.add(mode, look(mode));
    const int32_t simple = std::min(candidates[0].difference, candidates[1].difference);
    const uint64_t slow =
        predictor.allowed() & (effort_.inherited ? modes_around(block) : ~uint64_t{0});
    int32_t of_planes[kAllModes - kCrossComponent];
    bool planes_suffice = false;
    for (const int mode : {kCrossComponent, kWideCrossComponent}) {
        if (!(slow >> mode & 1)) continue;
        const int32_t difference = of_planes[mode - kCrossComponent] = look(mode);
        planes_suffice |= !effort_.every_angle && int64_t{3} * difference < int64_t{2} * simple;
    }
    if (is_large(simple, effort_.angles, step_) && !planes_suffice) {
        ModeDifferences<Sample> of_modes(source, predictor.references(), predictor.smooth(), a, b,
                                         coarse_.depth);
        look_at_angles(block, costs, of_modes, ranking);
    }
    const int sorted = std::max({2, effort_.kept, effort_.rough});
    ranking.sort(sorted);
    for (const int mode : {kCrossComponent, kWideCrossComponent})
        if (slow >> mode & 1) ranking.add(mode, of_planes[mode - kCrossComponent]);
    if (slow >> kCrossComponent) ranking.sort(sorted);
    // Template matching is slow: it runs only where the other modes leave a large SATD, and counts
    // only if at most one other mode is better.
    if (slow >> kTemplates & 1 && is_large(candidates[0].difference, effort_.matching,
                                           std::min(step_, kMostMatchedStep))) {
        const int32_t difference = look(kTemplates);
        seen.templates = difference < candidates[1].difference;
        if (seen.templates) {
            ranking.add(kTemplates, difference);
            ranking.sort(sorted);
        }
    }
    for (int i = 0; i < 2; ++i) seen.best[i] = uint8_t(candidates[i].mode);
    const int weight = weights_.of(block);
    const int32_t* kind_costs = costs.bit[kind_model(a, b, 1)];
    int64_t least = kNever;
    for (int i = 0; i < std::min(effort_.rough, ranking.count); ++i) {
        const int mode = candidates[i].mode;
        if (angle_of(mode) >= 0) predictor.predict(mode, prediction_of(mode));
        const RoughCost cost =
            rough_cost(block, source, prediction_of(mode), step_, tools_.quantisation_matrix, weight,
                       coarse_.depth, costs, effort_.rounded);
        const int64_t coded = std::min(kind_costs[kBare] + cost.bare,
                                       kind_costs[kTransformed] + cost.transformed);
        seen.predicted = std::min(seen.predicted, kModeBits * costs.plain + coded);
        least = std::min({least, cost.bare, cost.transformed});
    }
    for (int i = 0; i < std::min(effort_.kept, ranking.count); ++i)
        seen.modes |= uint64_t{1} << candidates[i].mode;
    seen.settled = a == b && is_aligned(block) && is_cheap(least, costs.plain, effort_.settled);
}

template <class Sample>
template <class Work>
void RoughSearch<Sample>::for_blocks(int a, int b, const Work& work) {
    const int side = 1 << tools_.fragment_log2;
    for (int row = row_; row < row_ + side; row += 1 << a)
        for (int column = column_; column < column_ + side; column += 1 << b)
            work(BlockPlace{row, column, a, b});
}

template <class Sample>
template <class Work>
void RoughSearch<Sample>::for_displaced(int a, int b, const Work& work) {
    const int side = 1 << tools_.fragment_log2;
    const int height = 1 << a, width = 1 << b;
    const int down = height > kUnit ? height / 2 : kUnit, across = width > kUnit ? width / 2 : kUnit;
    for (int row = row_; row + height <= row_ + side; row += down)
        for (int column = column_; column + width <= column_ + side; column += across)
            if (const BlockPlace block{row, column, a, b}; !is_aligned(block)) work(block);
}

template <class Sample>
template <class Work>
void RoughSearch<Sample>::for_parts_first(const Work& work) {
    const int side = tools_.fragment_log2;
    for (int sum = 2 * kMinSideLog2; sum <= 2 * side; ++sum)
        for (int a = kMinSideLog2; a <= side; ++a) {
            const int b = sum - a;
            if (b < kMinSideLog2 || b > side) continue;
            for_blocks(a, b, work);
            if (tools_.ternary && effort_.ternary >= 0) for_displaced(a, b, work);
        }
}

template <class Sample>
void RoughSearch<Sample>::weigh_splits() {
    for_parts_first([&](const BlockPlace& block) {
        if (coarse_.is_outside(block)) return;
        Seen& seen = at(block);
        seen.least = seen.whole();
        const int last = tools_.ternary && effort_.ternary >= 0 ? kThreeRows : kRows;
        for (int flag = kColumns; flag <= last; ++flag)
            if (may_follow(block, flag, effort_))
                seen.least = std::min(seen.least, split_cost(block, flag));
    });
}

// Finds trees that may be worth a trial and adds their costs to the rough search.
template <class Sample>
void RoughSearch<Sample>::look_for_trees(const BlockCosts& costs) {
    trees_->start(costs.lambda_fixed);
    const int most = std::min(tools_.fragment_log2, kMaxTreeLog2);
    for_blocks(most, most, [&](const BlockPlace& area) {
        for (int a = kMinSideLog2; a <= most; ++a)
            for (int b = kMinSideLog2; b <= most; ++b)
                for (int i = 0; i < area.height(); i += 1 << a)
                    for (int j = 0; j < area.width(); j += 1 << b) {
                        const BlockPlace block{area.row + i, area.column + j, a, b};
                        found_[number_in(block, row_, column_)].nodes.clear();
                        if (!coarse_.is_outside(block) && !coarse_.forced_flag(block) &&
                            trees_->trees.allowed(block))
                            trees_->want(block, worthwhile_cost(at(block).least, effort_.slack));
                    }
        trees_->find([&](const BlockPlace& block, FoundTree& tree) {
            at(block).tree = tree.cost + costs.bit[tree_model(block.a, block.b, 1)][1];
            found_[number_in(block, row_, column_)] = std::move(tree);
        });
    });
    weigh_splits();
}

template <class Sample>
void RoughSearch<Sample>::look(int row, int column, int32_t step, const BlockCosts& costs,
                               ThreadTeam& team) {
    row_ = row, column_ = column;
    step_ = independent_step(step, tools_.dependent);
    split_penalty_ = int64_t{effort_.split_bits} * costs.plain;
    const int side = tools_.fragment_log2, sides = side - kMinSideLog2 + 1;
    const auto look_at_shape = [&](int a, int b) {
        for_blocks(a, b, [&](const BlockPlace& block) { look_at(block, costs); });
    };
    if (effort_.every_angle)
        team.run(sides * sides, [&](uint32_t task) {
            look_at_shape(side - int(task) / sides, side - int(task) % sides);
        });
    else
        // Oblong blocks inherit the modes of less oblong blocks, so squares come first.
        for (int apart = 0; apart < sides; ++apart)
            team.run(apart ? 2 * (sides - apart) : sides, [&](uint32_t task) {
                const int large = side - int(task) / (apart ? 2 : 1), small = large - apart;
                if (task % 2 && apart) look_at_shape(small, large);
                else look_at_shape(large, small);
            });
    if (tools_.ternary && effort_.ternary >= 0)
        team.run(sides * sides, [&](uint32_t task) {
            for_displaced(side - int(task) / sides, side - int(task) % sides,
                          [&](const BlockPlace& block) { look_at(block, costs); });
        });
    weigh_splits();
    if (trees_) look_for_trees(costs);
    for_parts_first([&](const BlockPlace& block) {
        if (coarse_.is_outside(block)) return;
        Seen& seen = at(block);
        const int worth = coarse_.forced_flag(block) ? 7 : worthwhile(block);
        // The rough search allows no template matching for a block with a forced split: its cost as
        // a leaf is kNever.
        seen.templates = seen.templates && (worth >> kLeaf & 1) && may_be_predicted(block);
        for (int flag = kColumns; flag <= kThreeRows; ++flag)
            if (may_split(block, flag) && (worth >> flag & 1))
                for (int part = 0; part < parts_of(flag); ++part)
                    seen.templates |= at(part_of(block, flag, part)).templates;
    });
}

template class RoughSearch<uint8_t>;
template class RoughSearch<uint16_t>;

}  // namespace mmp
