// Decision rules of the encoder's search for blocks, in integers, so that all backends choose the
// same plans.
#pragma once

#include "shared/blocks/models.h"
#include "shared/blocks/partition.h"
#include "shared/blocks/transform.h"
#include "shared/tools.h"

namespace mmp {

constexpr int64_t kNever = int64_t{1} << 61;
// Most decoded rows above and columns left of a block that its coding depends on, template matching
// excluded.
constexpr int kReach = 8;
// Estimate of a block that the rough search skips. It is below kNever / 2^16, so that the sum over
// all parts of a fragment, slack included, fits 64 bits.
constexpr int64_t kSkipped = kNever >> 16;
constexpr int kModeBits = 5;  // bits that the rough search assumes per mode
// The trellis almost never reduces the cost of levels below this percentage of their estimate.
constexpr int kTrellisPercent = 85;
// Largest step, in 1/16, for which a residual is large enough for template matching: what repeats in
// a text or a halftone leaves residuals that do not grow with the step.
constexpr int32_t kMostMatchedStep = 256;

// Squared error of a coefficient, in 1/16 squared error of samples with 8 + `finer` bits.
template <class Cost>
MMP_HD constexpr Cost coefficient_error(int32_t difference, int finer = 0) {
    return Cost((int64_t{difference} * difference << 2 * finer) >> 2);
}

// A coefficient of at most 5/8 step is quantised to 0.
MMP_HD constexpr int32_t least_coefficient(int32_t step) { return step * 5 / 16; }

// With dependent quantisation, the last level has a coefficient above half a step.
MMP_HD constexpr int32_t first_coefficient(int32_t step) { return step / 4; }

// Reciprocal of a step for exact division: a number below 2^16 times the reciprocal, shifted right
// by 32, is the quotient.
MMP_HD constexpr uint64_t inverse_of(int32_t step) { return (uint64_t{1} << 32) / step + 1; }

// Returns the level of least RD cost for a coefficient of magnitude `size`. `cost` is the cost of
// level 0 on entry and the least cost on return. `level_cost` holds the rates of magnitudes 0, 1,
// 2, and 3 or more; from 3 on, costs.of_remainder(area, magnitude - 3) is added.
template <class Costs, class Cost>
MMP_HD int choose_level(int size, int32_t step, uint64_t inverse, int area,
                        const int32_t* level_cost, const Costs& costs, Cost& cost,
                        int finer = 0) {
    if (size * 4 <= step) return 0;
    const int floor = smaller(int((size * 2 * inverse) >> 32), kMaxLevel);
    const int most = smaller(floor + 1, kMaxLevel);
    int chosen = 0;
    for (int level = larger(1, floor > 2 ? floor : floor - 1); level <= most; ++level) {
        const int32_t beyond = dequantised(level, step) - size;
        if (10 * beyond > 3 * step) break;
        int64_t tried = int64_t{coefficient_error<Cost>(beyond, finer)} +
                        level_cost[smaller(level, 3)];
        if (level > 2) tried += costs.of_remainder(area, level - 3);
        if (tried < cost) cost = Cost(tried), chosen = level;
    }
    return chosen;
}

// Number of bits beyond 8 that costs of samples with 8 + `extra` bits keep without overflow: so
// many that the cost of each bit fits 32 bits.
MMP_HD int finer_bits(int64_t lambda_fixed, int extra) {
    constexpr int kMostLambdaBits = 36;
    const auto high = uint32_t(lambda_fixed >> 32), low = uint32_t(lambda_fixed);
    const int digits = high ? 33 + floor_log2(high) : low ? 1 + floor_log2(low) : 0;
    return smaller(extra, larger(kMostLambdaBits - digits, 0) / 2);
}

// sqrt(lambda) in 1/256, at least 1; it weighs bits against sums of absolute differences (SATD).
MMP_HD int32_t root_of(int64_t lambda_fixed) {
    int32_t root = 0;
    for (int32_t bit = 1 << 18; bit; bit >>= 1)
        if (int64_t{root + bit} * (root + bit) <= lambda_fixed) root += bit;
    return larger(root, 1);
}

// How much errors count in each cell of 8x8 samples, in 1/16, beside the other cells of its fragment.
// Weights apply where a quantisation matrix measures errors by frequencies.
constexpr int kCellLog2 = 3, kWeightBits = 4, kOneWeight = 1 << kWeightBits;

// Weight of a block of the picture: the mean of the cells that it touches, rounded down. `weights`
// has a row of cells, `columns` of them, after the other.
MMP_HD int weight_of(const uint8_t* weights, int columns, const BlockPlace& block) {
    const int last_row = (block.row + block.height() - 1) >> kCellLog2;
    const int last_column = (block.column + block.width() - 1) >> kCellLog2;
    int sum = 0, count = 0;
    for (int row = block.row >> kCellLog2; row <= last_row; ++row)
        for (int column = block.column >> kCellLog2; column <= last_column; ++column, ++count)
            sum += weights[int64_t{row} * columns + column];
    return sum / count;
}
// The cost of an error times a weight, rounded down.
MMP_HD constexpr int64_t weighed(int64_t cost, int weight) { return cost * weight >> kWeightBits; }

// Cost of the flag of a block without forced split, given the units above and left of it.
MMP_HD int64_t flag_cost(const BitCosts& bit, const BlockPlace& block, int flag, const Unit& above,
                         const Unit& left, bool ternary = false) {
    const bool columns = may_split(block, kColumns), rows = may_split(block, kRows);
    if (!columns && !rows) return 0;
    const int a = block.a, b = block.b;
    const int32_t* whether = bit[split_model(a, b, split_context(a, b, above, left))];
    const int32_t* how = bit[direction_model(a, b, direction_context(a, b, above, left))];
    if (flag == kLeaf) return whether[0];
    int64_t cost = whether[1] + (columns && rows ? how[!splits_columns(flag)] : 0);
    const int by_rows = !splits_columns(flag);
    if (ternary && may_split(block, by_rows ? kThreeRows : kThreeColumns))
        cost += bit[ternary_model(a, b, by_rows)][is_ternary(flag)];
    return cost;
}

// Whether a block may have a transform type. A quantisation matrix measures errors by frequencies,
// which a block without a transform does not have.
MMP_HD constexpr bool type_allowed(const BlockTools& tools, int a, int b, int type) {
    if (type == kTrained) return tools.trained_transforms;
    if (type == kTransformSkip && (!tools.transform_skip || tools.quantisation_matrix)) return false;
    return type == kCosine || sine_allowed(a, b);
}

// Cost of the transform type of a block whose mode belongs to `family`.
MMP_HD int64_t type_cost(const BlockTools& tools, const BitCosts& bit, int a, int b, int family,
                         int type) {
    int64_t cost = 0;
    if (tools.trained_transforms) cost += bit[trained_type_model(a, b, family)][type == kTrained];
    if (type == kTrained || !sine_allowed(a, b)) return cost;
    cost += bit[type_model(a, b, family)][type != kCosine];
    if (type == kCosine || !tools.transform_skip) return cost;
    return cost + bit[skip_model(a, b, family)][type == kTransformSkip];
}

// Bit mask of the modes that are tried on a block: modes from the rough search, modes of the
// neighbours, average and planar. Template matching is slow, so it is tried only if the rough
// search proposes it.
MMP_HD constexpr uint64_t promising_modes(uint64_t kept, const LikelyModes& likely,
                                          uint64_t allowed) {
    const uint64_t quick = (uint64_t{1} << kTemplates) - 1;
    const uint64_t neighbours = (uint64_t{1} << likely.left | uint64_t{1} << likely.above) & quick;
    return (kept | neighbours | 1 << kAverage | 1 << kPlanar) & allowed;
}

// Estimated cost of a mode: SATD plus mode cost, where a bit weighs about 0.6 sqrt(lambda). `root`
// is sqrt(lambda) in 1/256.
MMP_HD constexpr int32_t mode_estimate(int32_t difference, int32_t mode_cost, int32_t root) {
    return difference + int32_t(int64_t{mode_cost} * 10 / root);
}
// Largest estimate of a mode that is tried (early termination), given the best estimate.
MMP_HD constexpr int64_t hopeless_estimate(int32_t best, int32_t root) {
    return int64_t{best} * 8 / 5 + root / 32;
}

// RD cost of a residual: rate of its levels plus the energy that they do not represent. The integer
// basis is only nearly orthonormal, so `kept` can exceed `energy`.
MMP_HD constexpr int64_t residual_cost(int64_t rate, int64_t energy, int64_t kept) {
    return rate + (kept < energy ? energy - kept : 0);
}

// Estimated cost of a split from the sum of its parts' estimates. It adds 1/32, because the minimum
// of many noisy estimates is too low.
MMP_HD constexpr int64_t guessed_split_cost(int64_t halves) { return halves + (halves >> 5); }
// Largest estimated cost of a flag that is tried, given the least estimate; `slack` is in percent.
MMP_HD constexpr int64_t worthwhile_cost(int64_t least, int slack) {
    return least + least * slack / 100;
}

}  // namespace mmp
