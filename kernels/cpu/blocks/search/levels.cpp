#include "cpu/blocks/search/levels.h"

#include <stdlib.h>

#include "cpu/blocks/levels.h"
#include "cpu/runtime/simd.h"
#include "shared/blocks/estimate.h"
#include "shared/blocks/search.h"

namespace mmp {

namespace {

// Writes the magnitudes of the first `end` coefficients in scan order and the scan positions of
// those that may become a non-zero level; returns the number of these.
int gather(const int16_t* coefficients, const uint16_t* places, int end, int32_t step,
           uint16_t* sizes, uint16_t* candidates) {
    int count = 0;
    for (int k = 0; k < end; ++k) {
        const int size = std::abs(coefficients[places[k]]);
        sizes[k] = uint16_t(size);
        candidates[count] = uint16_t(k);
        count += size * 4 > step;
    }
    return count;
}

// choose_level(), but compares levels up to 3 without branches, because they are hard to predict.
template <class Cost>
class LevelChooser {
public:
    LevelChooser(int32_t step, const BlockCosts& costs)
        : step_(step),
          finer_(sizeof(Cost) == 4 ? 0 : costs.finer),
          inverse_(inverse_of(step)),
          costs_(costs) {
        for (int level = 1; level <= kFew; ++level) values_[level] = dequantised(level, step);
    }
    // `context` is the context of the remainder.
    int choose(int size, const int32_t* level_cost, int context, Cost& cost) const {
        const int floor = int((size * 2 * inverse_) >> 32);
        if (floor >= kFew)
            return choose_level(size, step_, inverse_, context, level_cost, costs_, cost, finer_);
        // Cost of the remainder of magnitude 3.
        const int64_t more = costs_.of_remainder(context, 0);
        int chosen = 0;
        int64_t least = cost;
        for (int level = 1; level <= kFew; ++level) {
            const int32_t beyond = values_[level] - size;
            const int64_t tried = int64_t{coefficient_error<Cost>(beyond, finer_)} +
                                  level_cost[level] + (level == kFew ? more : 0);
            const bool better = (level <= floor + 1) & (10 * beyond <= 3 * step_) & (tried < least);
            least = better ? tried : least;
            chosen = better ? level : chosen;
        }
        cost = Cost(least);
        return chosen;
    }

private:
    static constexpr int kFew = 3;

    const int32_t step_;
    const int finer_;
    const uint64_t inverse_;
    const BlockCosts& costs_;
    int32_t values_[kFew + 1];
};

}  // namespace

int64_t cost_of_levels(const int16_t* levels, int a, int b, int family, int last,
                       const BlockCosts& costs) {
    const Scan& scan = scan_of(a, b);
    const uint8_t* places = costs.places_of(scan, family);
    const int area = area_class(a, b);
    MagnitudeSums sums(scan);
    int64_t total = int64_t{costs.of_last(a, b, last)} - costs.nonzero[area][places[last]];
    for (int k = last; k >= 0; --k) {
        const int size = std::abs(levels[scan.place[k]]), sum = sums.at(scan.margin[k]);
        total += costs.level[area][places[k]][sum][smaller(size, 3)];
        if (!size) continue;
        if (size > 2) {
            const int context = costs.remainder_context(area, places[k], sum_class(sum));
            total += costs.of_remainder(context, size - 3);
        }
        sums.add(scan.margin[k], size);
    }
    return total;
}

template <class Cost>
LevelChoice choose_levels(const int16_t* coefficients, int a, int b, int family, int32_t step,
                          const BlockCosts& costs, int16_t* levels) {
    const Scan& scan = scan_of(a, b);
    const uint16_t *places = scan.place.data(), *margins = scan.margin.data();
    const uint8_t* cost_places = costs.places_of(scan, family);
    const int area = area_class(a, b);
    memset(levels, 0, scan.count * sizeof *levels);
    const int end =
        end_above(coefficients, scan.number.data(), scan.count, least_coefficient(step));
    if (!end) return {-1, 0, 0};
    uint16_t sizes[kMaxCoded], candidates[kMaxCoded];
    const int count = gather(coefficients, places, end, step, sizes, candidates);
    MagnitudeSums sums(scan);
    const auto& level_costs = costs.level[area];
    const LevelChooser<Cost> chooser(step, costs);
    // Scan positions of the non-zero levels, from high to low frequencies, and the cost of each one
    // minus the cost of quantising its coefficient to 0.
    uint16_t kept[kMaxCoded];
    int64_t gains[kMaxCoded];
    int keeping = 0;
    int64_t rate = 0;
    for (int n = count - 1; n >= 0; --n) {
        const int k = candidates[n], size = sizes[k];
        const int sum = sums.at(margins[k]);
        const int32_t* level_cost = level_costs[cost_places[k]][sum];
        const int context = costs.remainder_context(area, cost_places[k], sum_class(sum));
        const Cost dropped =
            coefficient_error<Cost>(size, sizeof(Cost) == 4 ? 0 : costs.finer);
        Cost cost = dropped + level_cost[0];
        const int chosen = chooser.choose(size, level_cost, context, cost);
        // Without a branch, because it would be hard to predict.
        levels[places[k]] = int16_t(coefficients[places[k]] < 0 ? -chosen : chosen);
        sums.add(margins[k], chosen);
        kept[keeping] = uint16_t(k), gains[keeping] = int64_t{cost} - dropped;
        rate += chosen ? level_cost[smaller(chosen, 3)] : 0;
        if (chosen > 2) rate += costs.of_remainder(context, chosen - 3);
        keeping += chosen > 0;
    }
    if (!keeping) return {-1, 0, 0};
    // Cost of the coefficients that precede each scan position.
    const int top = kept[0];
    int64_t before[kMaxCoded];
    for (int k = 0; k < top; ++k)
        before[k + 1] = level_costs[cost_places[k]][sums.at(margins[k])][0];
    before[0] = 0;
    for (int n = 1; n < keeping; ++n) before[kept[n] + 1] = 0;
    int64_t zeros = 0;
    for (int k = 0; k < top; ++k) zeros += before[k + 1];
    rate += zeros;
    for (int n = 1; n < keeping; ++n) before[kept[n] + 1] = gains[n];
    for (int k = 0; k < top; ++k) before[k + 1] += before[k];
    // The last level is known to be non-zero, so the bit that says so is not coded.
    const auto end_cost = [&](int k) {
        return int64_t{costs.of_last(a, b, k)} - costs.nonzero[area][cost_places[k]];
    };
    int64_t best = INT64_MAX;
    int last = 0;
    for (int n = keeping - 1; n >= 0; --n) {
        const int64_t total = before[kept[n]] + gains[n] + end_cost(kept[n]);
        if (total < best) best = total, last = n;
    }
    int64_t energy = 0;
    for (int n = last; n < keeping; ++n) {
        const int64_t size = sizes[kept[n]], level = std::abs(levels[places[kept[n]]]);
        const int64_t rest = size - dequantised(int32_t(level), step);
        energy += size * size - rest * rest;
    }
    if (!last) return {top, rate + end_cost(top), energy};
    for (int n = 0; n < last; ++n) levels[places[kept[n]]] = 0;
    return {kept[last], cost_of_levels(levels, a, b, family, kept[last], costs), energy};
}

template LevelChoice choose_levels<int32_t>(const int16_t*, int, int, int, int32_t,
                                            const BlockCosts&, int16_t*);
template LevelChoice choose_levels<int64_t>(const int16_t*, int, int, int, int32_t,
                                            const BlockCosts&, int16_t*);

namespace {

// Statistics of the rounded levels, from which the rate is estimated.
struct LevelCounts {
    int32_t levels;  // number of non-zero levels
    int32_t bits;    // in 1/16 bit
    int32_t end;     // one more than the last scan position
    int64_t kept;
};

// Coefficients have the scale of 8-bit samples at any depth, so sums of energy fit 32 bits.
MMP_SIMD_LEVELS LevelCounts count_levels(const int16_t* coefficients, const uint16_t* numbers,
                                         int count, int32_t step) {
    const uint32_t scale = estimate_scale(step);
    // Largest magnitude whose level is 0. For steps above 2^17, estimate_scale() is 0.
    const int most = ((1 << 16) - 1 - kEstimateRound) / larger(int(scale), 1);
    const Shorts16 dropped = Shorts16{} + int16_t(smaller(most, INT16_MAX));
    // Sums of bits fit 16 bits: a level adds at most 199, and a lane gets at most 64 levels.
    Shorts16 ends{}, levels{}, bits{};
    Unsigned8 kept{};
    for (int i = 0; i < count; i += 16) {
        const auto values = loaded<Shorts16>(coefficients + i);
        const LaneMask coded_at((values > dropped) | (values < -dropped));
        if (!(coded_at.halves[0] | coded_at.halves[1])) continue;
        Shorts8 parts[2];
        for (int part = 0; part < 2; ++part) {
            const auto value = loaded<Shorts8>(coefficients + i + 8 * part);
            const Shorts8 magnitude = value < 0 ? -value : value;
            const Unsigned8 size = __builtin_convertvector(magnitude, Unsigned8);
            const Unsigned8 level = (size * scale + kEstimateRound) >> 16;
            const Unsigned8 coded = (level * uint32_t(step) + 1) >> 1;
            kept += coded * (2 * size - coded) >> 2;  // size^2 minus squared quantisation error
            parts[part] = __builtin_convertvector(level, Shorts8);
        }
        const auto small = joined<Shorts16>(parts[0], parts[1]);
#define MMP_ADD_BITS(limit, count) bits += (small > int16_t{limit}) & int16_t{count};
        MMP_LEVEL_LIMITS(MMP_ADD_BITS)
#undef MMP_ADD_BITS
        levels -= small > 0;
        const Shorts16 number = loaded<Shorts16>(numbers + i) & (small > 0);
        ends = number > ends ? number : ends;
    }
    LevelCounts counts{0, 0, 0, 0};
    for (int lane = 0; lane < 16; ++lane) {
        counts.levels += levels[lane];
        counts.bits += bits[lane];
        counts.end = larger(counts.end, int(ends[lane]));
    }
    for (int lane = 0; lane < 8; ++lane) counts.kept += kept[lane];
    return counts;
}

}  // namespace

LevelEstimate estimate_levels(const int16_t* coefficients, int a, int b, int32_t step,
                              int32_t plain) {
    const Scan& scan = scan_of(a, b);
    const LevelCounts counts = count_levels(coefficients, scan.number.data(), scan.count, step);
    const int32_t bits = estimated_bits(counts.levels, counts.bits, counts.end);
    return {estimated_rate(bits, plain), counts.kept};
}

}  // namespace mmp
