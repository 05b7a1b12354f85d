#include "cpu/blocks/search/costs.h"

#include "shared/blocks/search.h"

namespace mmp {

void BlockCosts::refresh(const BlockModels& models, int64_t lambda) {
    finer = finer_bits(lambda, extra_);
    coarser = extra_ - finer;
    lambda_fixed = lambda << 2 * finer;
    const RateTable& rates = RateTable::get();
    plain = of_rate(1 << kRateFractionBits);
    for (int m = 0; m < kHeldBitModels; ++m) {
        const uint32_t one = models.bits[m].one;
        bit[m][0] = of_rate(rates[kBitTotal] - rates[kBitTotal - one]);
        bit[m][1] = of_rate(rates[kBitTotal] - rates[one]);
    }
    refresh_levels(models);
    for (int context = 0; context < (fine ? kRemainderPlaces * kSumClasses : 2); ++context)
        for (int value = 0; value < kRemainderTable; ++value)
            remainder_[context][value] =
                remainder_cost_from(bit, plain, first_remainder(context), value);
    for (int a = kMinSideLog2; a <= kMaxSideLog2; ++a)
        for (int b = kMinSideLog2; b <= kMaxSideLog2; ++b)
            for (int group = 0; group <= last_groups(a, b); ++group)
                for (int top = 0; top < 2; ++top) {
                    const int place = group ? (1 << group) + (top << (group - 1)) - 1 : 0;
                    last_[shape_number(a, b)][group][top] = last_cost(bit, plain, a, b, place);
                }
}

void BlockCosts::refresh_levels(const BlockModels& models) {
    const RateTable& rates = RateTable::get();
    const int places = fine ? kMostPlaces : kPlaces;
    for (int quantiser = 0; quantiser < kQuantisers; ++quantiser)
        for (int area = 0; area < kAreas; ++area)
            for (int place = 0; place < places; ++place)
                for (int sum = 0; sum < kSumClasses; ++sum) {
                    const LevelModels of =
                        fine ? LevelModels::fine(area, place / kFrequencies, place % kFrequencies,
                                                 sum, quantiser)
                             : LevelModels::coarse(area, place, sum, quantiser);
                    int32_t zero[2] = {bit[of.zero][0], bit[of.zero][1]};
                    if (fine) {
                        const uint32_t one =
                            mean_probability(models.bits[of.zero], models.bits[of.fine_zero]);
                        zero[0] = of_rate(rates[kBitTotal] - rates[kBitTotal - one]);
                        zero[1] = of_rate(rates[kBitTotal] - rates[one]);
                    }
                    if (!quantiser && !sum) nonzero[area][place] = zero[1];
                    int32_t of_sizes[4];
                    level_costs(zero, bit[of.one], bit[of.two], plain, of_sizes);
                    for (int size = 0; size < 4; ++size)
                        by_sum[quantiser][area][place][size][sum] = of_sizes[size];
                }
    for (int area = 0; area < kAreas; ++area)
        for (int place = 0; place < places; ++place)
            for (int sum = 0; sum <= kMostSum; ++sum)
                for (int size = 0; size < 4; ++size)
                    level[area][place][sum][size] = by_sum[0][area][place][size][sum_class(sum)];
}

void BlockCosts::of_modes(const BlockModels& models, int size, LikelyModes near, int context,
                          uint64_t allowed, int32_t* costs) const {
    const int left = near.left, above = near.above;
    uint32_t weights[kModes];
    const uint32_t total = weigh_modes(models, size, near, allowed, weights);
    const RateTable& rates = RateTable::get();
    const auto* likely = &bit[likely_model(size, 0)];
    const int32_t rest = left == above ? likely[1][0] : likely[0][0] + likely[2][0];
    for (int mode = 0; mode < kModes; ++mode)
        costs[mode] = weights[mode] ? rest + of_rate(rates[total] - rates[weights[mode]]) : -1;
    if (allowed >> left & 1) costs[left] = likely[left == above][1];
    if (left != above && (allowed >> above & 1)) costs[above] = likely[0][0] + likely[2][1];
    if (!(allowed >> kCrossComponent)) return;
    const int32_t* planes = bit[planes_model(size, context)];
    const int32_t* wide = bit[wide_cross_component_model(size)];
    for (int mode = 0; mode < kModes; ++mode)
        if (costs[mode] >= 0) costs[mode] += planes[0];
    const bool has_wide = allowed >> kWideCrossComponent & 1;
    costs[kCrossComponent] = planes[1] + (has_wide ? wide[0] : 0);
    costs[kWideCrossComponent] = has_wide ? planes[1] + wide[1] : -1;
}

}  // namespace mmp
