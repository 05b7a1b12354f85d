#include "cpu/blocks/search/levels.h"

#include <stdlib.h>

#include "cpu/blocks/levels.h"
#include "cpu/runtime/simd.h"
#include "shared/blocks/search.h"

namespace mmp {

// Returns whether the magnitude of any coefficient exceeds `least`.
MMP_SIMD_LEVELS bool any_above(const int16_t* coefficients, int count, int32_t least) {
    int any = 0;
    for (int i = 0; i < count; ++i) any |= (coefficients[i] > least) | (coefficients[i] < -least);
    return any;
}

template <class Cost>
int choose_levels(const int16_t* coefficients, int a, int b, int32_t step,
                  const BlockCosts& costs, int16_t* levels) {
    const Scan& scan = scan_of(a, b);
    const uint16_t *places = scan.place.data(), *margins = scan.margin.data();
    const uint8_t* frequency_classes = scan.frequency_class.data();
    const int area = area_class(a, b);
    memset(levels, 0, scan.count * sizeof *levels);
    const int32_t least = least_coefficient(step);
    if (!any_above(coefficients, scan.count, least)) return -1;
    int top = scan.count - 1;
    while (std::abs(coefficients[places[top]]) <= least) --top;
    Magnitudes magnitudes(scan);
    Cost cost[kMaxCoded], dropped[kMaxCoded];
    const int finer = sizeof(Cost) == 4 ? 0 : costs.finer;
    const uint64_t inverse = inverse_of(step);
    for (int k = top; k >= 0; --k) {
        const int coefficient = coefficients[places[k]], size = std::abs(coefficient);
        const int sum = smaller(magnitudes.sum(margins[k]), kSums - 1);
        const int32_t* level_cost = costs.level[area][frequency_classes[k]][sum];
        dropped[k] = coefficient_error<Cost>(size, finer);
        cost[k] = dropped[k] + level_cost[0];
        const int chosen =
            choose_level(size, step, inverse, area, level_cost, costs, cost[k], finer);
        if (!chosen) continue;
        levels[places[k]] = int16_t(coefficient < 0 ? -chosen : chosen);
        magnitudes.set(margins[k], chosen);
    }
    int64_t after = 0, before = 0, best = INT64_MAX;
    for (int k = 0; k <= top; ++k) after += dropped[k];
    int last = -1;
    for (int k = 0; k <= top; ++k) {
        after -= dropped[k];
        if (levels[places[k]]) {
            // The last level cannot be 0, so no bit codes that.
            const int64_t total = before + cost[k] + after + costs.of_last(a, b, k) -
                                  costs.bit[zero_model(area, frequency_classes[k], 0)][1];
            if (total < best) best = total, last = k;
        }
        before += cost[k];
    }
    for (int k = last + 1; k <= top; ++k) levels[places[k]] = 0;
    return last;
}

template int choose_levels<int32_t>(const int16_t*, int, int, int32_t, const BlockCosts&,
                                    int16_t*);
template int choose_levels<int64_t>(const int16_t*, int, int, int32_t, const BlockCosts&,
                                    int16_t*);

int64_t cost_of_levels(const int16_t* levels, int a, int b, int last, const BlockCosts& costs) {
    const Scan& scan = scan_of(a, b);
    const int area = area_class(a, b);
    Magnitudes magnitudes(scan);
    int64_t total = int64_t{costs.of_last(a, b, last)} -
                    costs.bit[zero_model(area, scan.frequency_class[last], 0)][1];
    for (int k = last; k >= 0; --k) {
        const int size = std::abs(levels[scan.place[k]]);
        const int sum = smaller(magnitudes.sum(scan.margin[k]), kSums - 1);
        total += costs.level[area][scan.frequency_class[k]][sum][smaller(size, 3)];
        if (size > 2) total += costs.of_remainder(area, size - 3);
        magnitudes.set(scan.margin[k], size);
    }
    return total;
}

}  // namespace mmp
