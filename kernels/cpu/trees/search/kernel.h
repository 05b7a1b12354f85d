// Search of one segment among the elements of its scale, for any SIMD level. avx2.cpp,
// avx512vnni.cpp and generic.cpp include this file and compile it for their own level.
#pragma once

#include <stdint.h>

#include "cpu/trees/search/index.h"

namespace {

using namespace mmp;

// Compares the selected lanes of a group, one by one, with the best cost of the query.
inline void take_best(const int32_t* costs, const uint32_t* elements, uint32_t lanes, Query& query) {
    for (; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        const bool wins = costs[lane] < query.bound ||
                          (costs[lane] == query.bound && elements[lane] < query.index);
        if (!wins) continue;
        query.bound = costs[lane];
        query.index = elements[lane];
    }
}

template <class Simd, int Chunks>
void search_bucket(const SearchIndex& index, const typename Simd::Costs& costs, int bucket,
                   Query& query) {
    for (const uint32_t group : index.groups(bucket)) {
        const auto dot = Simd::template dot<Chunks>(index.samples(group), query.samples);
        const auto cost = costs.total(index.costs(group), index.classes(group), dot);
        const uint32_t lanes = cost.at_most(query.bound);
        if (lanes) {
            alignas(64) int32_t lane_cost[kLanes];
            cost.store(lane_cost);
            take_best(lane_cost, index.elements(group), lanes, query);
        }
    }
}

// Visits buckets by increasing distance of the mean. Squared error is at least (difference of the
// sums)^2 / area, so the first bucket whose bound exceeds the best cost ends the search in its
// direction.
template <class Simd, int Chunks>
void search_scale(const SearchIndex& index, const ClassCosts& class_costs, Query& query) {
    const typename Simd::Costs costs(class_costs);
    const int home = index.bucket_of(query.sum);
    const int shift = index.scale_area_log2();
    const auto hopeless = [&](int64_t gap) {
        const int64_t least = ((gap * gap) << kCostFractionBits) >> shift;
        return least + class_costs.smallest > int64_t{query.bound} + query.offset;
    };
    search_bucket<Simd, Chunks>(index, costs, home, query);
    int below = home - 1, above = home + 1;
    while (below >= 0 || above < SearchIndex::kBuckets) {
        if (below >= 0) {
            if (hopeless(query.sum - index.last_sum(below)))
                below = -1;
            else
                search_bucket<Simd, Chunks>(index, costs, below--, query);
        }
        if (above < SearchIndex::kBuckets) {
            if (hopeless(index.first_sum(above) - query.sum))
                above = SearchIndex::kBuckets;
            else
                search_bucket<Simd, Chunks>(index, costs, above++, query);
        }
    }
}

template <class Simd>
void search_any(const SearchIndex& index, const ClassCosts& costs, Query& query) {
    switch (index.chunks()) {
        case 1: return search_scale<Simd, 1>(index, costs, query);
        case 2: return search_scale<Simd, 2>(index, costs, query);
        case 4: return search_scale<Simd, 4>(index, costs, query);
        case 8: return search_scale<Simd, 8>(index, costs, query);
        case 16: return search_scale<Simd, 16>(index, costs, query);
        case 32: return search_scale<Simd, 32>(index, costs, query);
        case 64: return search_scale<Simd, 64>(index, costs, query);
        default: return search_scale<Simd, 128>(index, costs, query);
    }
}

}  // namespace
