#include "fragment_search.h"

#include <algorithm>

namespace mmp {

FragmentSearch::FragmentSearch(Picture& picture, const EncoderOptions& options, ThreadTeam& team)
    : picture_(picture), options_(options), team_(team) {
    for (int scale = 0; scale < kScales; ++scale) {
        indexes_.emplace_back(scale, options.kernel->layout);
        if (!picture.dictionaries[scale]) continue;
        scales_.push_back(scale);
        for (uint32_t i = 0; i < picture.dictionaries[scale]->size(); ++i) added(scale, i);
    }
    for (Segment& segment : segments_) segment.budget = -1;
}

int32_t FragmentSearch::own_cost(int scale, uint32_t element) const {
    if (options_.log2_rates) return 0;
    const int32_t rate = rates_[picture_.dictionaries[scale]->count(element)];
    return -static_cast<int32_t>(lagrangian(rate, options_.lambda_fixed));
}

void FragmentSearch::added(int scale, uint32_t element) {
    const Dictionary& dictionary = *picture_.dictionaries[scale];
    indexes_[scale].add(dictionary.element(element), dictionary.element_class(element),
                        own_cost(scale, element));
}

void FragmentSearch::used(int scale, uint32_t element, bool all_changed) {
    const Dictionary& dictionary = *picture_.dictionaries[scale];
    const uint32_t first = all_changed ? 0 : element;
    const uint32_t last = all_changed ? dictionary.size() - 1 : element;
    for (uint32_t i = first; i <= last; ++i)
        indexes_[scale].update(i, dictionary.element_class(i), own_cost(scale, i));
}

void FragmentSearch::refresh_costs(int scale) {
    const Dictionary& dictionary = *picture_.dictionaries[scale];
    ClassCosts& costs = class_costs_[scale];
    const auto cost_of = [&](int64_t rate) {
        return static_cast<int32_t>(lagrangian(rate, options_.lambda_fixed));
    };
    costs.uniform = options_.log2_rates || !picture_.tools.index_classes;
    if (options_.log2_rates) {
        costs.class_cost[0] = costs.smallest = cost_of(rates_[dictionary.size()]);
        return;
    }
    const int classes = costs.uniform ? 1 : kClasses;
    uint32_t total = 0;
    for (int c = 0; c < classes; ++c)
        if (dictionary.occupied(c)) total += picture_.models.class_frequency(scale, c);
    costs.smallest = kEmptyLaneCost;
    for (int c = 0; c < classes; ++c) {
        if (!dictionary.occupied(c)) continue;
        const int32_t class_rate =
            rates_[total] - rates_[picture_.models.class_frequency(scale, c)];
        costs.class_cost[c] = cost_of(class_rate + rates_[dictionary.class_total(c)]);
        costs.smallest = std::min(costs.smallest, costs.class_cost[c] -
                                                      cost_of(rates_[dictionary.largest_count(c)]));
    }
}

void FragmentSearch::refresh_bounds() {
    const int partition = picture_.tools.partition;
    for (auto scale = scales_.rbegin(); scale != scales_.rend(); ++scale) {
        std::array<int64_t, kFlags> least_flag;
        least_flag.fill(kNoCost);
        for (int context = 0; context < kFlagContexts; ++context) {
            uint32_t total = 0;
            for (int flag = 0; flag < kFlags; ++flag)
                total += picture_.models.flag_frequency(context, *scale, flag);
            for (int flag = 0; flag < kFlags; ++flag) {
                if (!flag_allowed(*scale, flag, partition)) continue;
                const int32_t rate =
                    rates_[total] - rates_[picture_.models.flag_frequency(context, *scale, flag)];
                const int64_t cost = lagrangian(rate, options_.lambda_fixed);
                flag_cost_[context][*scale][flag] = cost;
                least_flag[flag] = std::min(least_flag[flag], cost);
            }
        }
        int64_t least = least_flag[kLeaf] + class_costs_[*scale].smallest;
        for (const int flag : {kColumns, kRows})
            if (flag_allowed(*scale, flag, partition))
                least = std::min(
                    least, least_flag[flag] + 2 * least_tree_[child_scale(*scale, flag)]);
        least_tree_[*scale] = least;
    }
}

void FragmentSearch::require(int scale, int k, int l, int64_t budget) {
    Segment& segment = at(scale, k, l);
    if (segment.budget < 0) {
        const int depth = scale_n(scale) + scale_m(scale);
        needed_[depth].push_back({static_cast<uint8_t>(scale), static_cast<uint8_t>(k),
                                  static_cast<uint8_t>(l)});
    }
    segment.budget = std::max(segment.budget, budget);
}

void FragmentSearch::search_leaf(const uint8_t* residual, const Fragment& fragment, Place place) {
    const auto [scale, k, l] = place;
    Segment& segment = at(scale, k, l);
    segment.cost = kNoCost;
    segment.flag = kLeaf;
    segment.tried = 0;
    const int64_t flag_cost =
        flag_cost_[picture_.context(fragment, scale, k, l)][scale][kLeaf];
    Query query;
    const int top = k * scale_height(scale), left = l * scale_width(scale);
    indexes_[scale].prepare(residual + top * kFragmentSize + left, kFragmentSize, query);
    query.start(segment.budget - flag_cost - 1);
    options_.kernel->search(indexes_[scale], class_costs_[scale], query);
    if (query.index == kNoElement) return;
    segment.cost = query.cost() + flag_cost;
    segment.index = query.index;
}

void FragmentSearch::plan_splits(const Fragment& fragment, Place place) {
    const auto [scale, k, l] = place;
    Segment& segment = at(scale, k, l);
    const int64_t budget = std::min(segment.budget, segment.cost);
    for (const int flag : {kColumns, kRows}) {
        if (!flag_allowed(scale, flag, picture_.tools.partition)) continue;
        const int child = child_scale(scale, flag);
        const int64_t flag_cost =
            flag_cost_[picture_.context(fragment, scale, k, l)][scale][flag];
        const int64_t child_budget = budget - flag_cost - least_tree_[child];
        if (child_budget <= least_tree_[child]) continue;
        segment.tried |= static_cast<uint8_t>(1 << flag);
        for (int half = 0; half < 2; ++half) {
            const auto [row, column] = child_place(k, l, flag, half);
            require(child, row, column, child_budget);
        }
    }
}

void FragmentSearch::choose(const Fragment& fragment, Place place) {
    const auto [scale, k, l] = place;
    Segment& segment = at(scale, k, l);
    for (const int flag : {kColumns, kRows}) {
        if (!(segment.tried >> flag & 1)) continue;
        int64_t cost = flag_cost_[picture_.context(fragment, scale, k, l)][scale][flag];
        for (int half = 0; half < 2; ++half) {
            const auto [row, column] = child_place(k, l, flag, half);
            cost += at(child_scale(scale, flag), row, column).cost;
        }
        if (cost < segment.cost) {
            segment.cost = cost;
            segment.flag = static_cast<uint8_t>(flag);
        }
    }
    segment.cost = std::min(segment.cost, kNoCost);
    segment.budget = -1;
}

void FragmentSearch::collect(Place place, std::vector<Node>& nodes) const {
    const auto [scale, k, l] = place;
    const Segment& segment = at(scale, k, l);
    const bool leaf = segment.flag == kLeaf;
    nodes.push_back({scale, k, l, segment.flag, leaf ? segment.index : kNoIndex});
    if (leaf) return;
    for (int half = 0; half < 2; ++half) {
        const auto [row, column] = child_place(k, l, segment.flag, half);
        collect({static_cast<uint8_t>(child_scale(scale, segment.flag)),
                 static_cast<uint8_t>(row), static_cast<uint8_t>(column)},
                nodes);
    }
}

void FragmentSearch::find_tree(const uint8_t* residual, const Fragment& fragment,
                               std::vector<Node>& nodes) {
    for (const int scale : scales_) refresh_costs(scale);
    refresh_bounds();
    require(0, 0, 0, kNoCost);
    for (auto& places : needed_) {
        team_.run(static_cast<uint32_t>(places.size()),
                  [&](uint32_t task) { search_leaf(residual, fragment, places[task]); });
        for (const Place& place : places) plan_splits(fragment, place);
    }
    for (auto places = needed_.rbegin(); places != needed_.rend(); ++places) {
        for (const Place& place : *places) choose(fragment, place);
        places->clear();
    }
    nodes.clear();
    collect({0, 0, 0}, nodes);
}

}  // namespace mmp
