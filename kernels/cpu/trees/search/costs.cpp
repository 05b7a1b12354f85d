#include "cpu/trees/search/costs.h"

#include <algorithm>

namespace mmp {

Costs::Costs(const Picture& picture, const RateOptions& options)
    : picture_(picture), options_(options) {
    for (int scale = 0; scale < kScales; ++scale)
        if (picture.dictionaries[scale]) scales_.push_back(scale);
}

void Costs::refresh() {
    for (auto scale = scales_.rbegin(); scale != scales_.rend(); ++scale) {
        refresh_classes(*scale);
        refresh_flags(*scale);
    }
}

int32_t Costs::own(int scale, uint32_t element) const {
    if (options_.log2_rates) return 0;
    return -cost_of(rates_[picture_.dictionaries[scale]->count(element)]);
}

void Costs::refresh_classes(int scale) {
    const Dictionary& dictionary = *picture_.dictionaries[scale];
    const Copies* copies = picture_.copies.get();
    const bool copied = copies && copies->possible(scale);
    ClassCosts &costs = class_costs_[scale], &copy_costs = copy_costs_[scale];
    const int32_t copy_rate = copied ? rates_[copies->areas()] : 0;
    costs.uniform = options_.log2_rates || !picture_.tools.index_classes;
    if (options_.log2_rates) {
        costs.class_cost[0] = costs.smallest = cost_of(rates_[dictionary.size()]);
        copy_costs.class_cost[0] = copy_costs.smallest = cost_of(copy_rate);
        if (copied) costs.smallest = std::min(costs.smallest, copy_costs.smallest);
        return;
    }
    const int classes = costs.uniform ? 1 : kClasses;
    const uint32_t total = costs.uniform ? picture_.models.class_frequency(scale, 0)
                                         : picture_.models.classes(dictionary, copies).total;
    costs.smallest = kEmptyLaneCost;
    if (copied) {
        const int32_t class_rate =
            rates_[total] - rates_[picture_.models.class_frequency(scale, kDisplacedClass)];
        copy_costs.class_cost[0] = copy_costs.smallest = cost_of(class_rate + copy_rate);
        costs.smallest = copy_costs.smallest;
    }
    for (int c = 0; c < classes; ++c) {
        if (!dictionary.occupied(c)) continue;
        const int32_t class_rate =
            rates_[total] - rates_[picture_.models.class_frequency(scale, c)];
        costs.class_cost[c] = cost_of(class_rate + rates_[dictionary.class_total(c)]);
        costs.smallest = std::min(costs.smallest, costs.class_cost[c] -
                                                      cost_of(rates_[dictionary.largest_count(c)]));
    }
}

void Costs::refresh_flags(int scale) {
    const int partition = picture_.tools.partition;
    std::array<int64_t, kFlags> least_flag;
    least_flag.fill(INT64_MAX);
    for (int context = 0; context < kFlagContexts; ++context) {
        uint32_t total = 0;
        for (int flag = 0; flag < kFlags; ++flag)
            total += picture_.models.flag_frequency(context, scale, flag);
        for (int flag = 0; flag < kFlags; ++flag) {
            if (!flag_allowed(scale, flag, partition)) continue;
            const uint32_t frequency = picture_.models.flag_frequency(context, scale, flag);
            const int64_t cost = cost_of(rates_[total] - rates_[frequency]);
            flag_cost_[context][scale][flag] = cost;
            least_flag[flag] = std::min(least_flag[flag], cost);
        }
    }
    int64_t least = least_flag[kLeaf] + class_costs_[scale].smallest;
    for (const int flag : {kColumns, kRows})
        if (flag_allowed(scale, flag, partition))
            least = std::min(least, least_flag[flag] + 2 * least_tree_[child_scale(scale, flag)]);
    least_tree_[scale] = least;
}

}  // namespace mmp
