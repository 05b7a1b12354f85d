#include "cpu/blocks/search/levels.h"

#include <stdlib.h>

#include "cpu/blocks/levels.h"
#include "cpu/runtime/simd.h"
#include "shared/blocks/search.h"

namespace mmp {

namespace {

// Returns one more than the last place in scan order whose magnitude exceeds `least`, or 0.
MMP_SIMD_LEVELS int end_above(const int16_t* coefficients, const uint16_t* numbers, int count,
                              int32_t least) {
    uint16_t end = 0;
    for (int i = 0; i < count; ++i) {
        const bool above = coefficients[i] > least || coefficients[i] < -least;
        const uint16_t number = above ? numbers[i] : uint16_t{0};
        end = number > end ? number : end;
    }
    return end;
}

// For each coefficient, the sum of the magnitudes, limited to 3, of its five neighbours of higher
// frequency. Each level adds to the sums of the coefficients whose neighbour it is.
class MagnitudeSums {
public:
    explicit MagnitudeSums(const Scan& scan) : stride_(scan.columns + 2) {
        memset(value_, 0, stride_ * (scan.rows + 2));
    }
    // Places count as in Scan::margin.
    int at(int margin) const { return value_[2 * stride_ + 2 + margin]; }
    void add(int margin, int size) {
        const uint8_t limited = uint8_t(smaller(size, 3));
        uint8_t* v = value_ + 2 * stride_ + 2 + margin;
        for (const int before : {1, 2, stride_, 2 * stride_, stride_ + 1})
            v[-before] = uint8_t(v[-before] + limited);
    }

private:
    int stride_;
    uint8_t value_[(kCodedSide + 5) * (kCodedSide + 2)];
};

// The cost of levels without that of the transform type.
int64_t cost_of_levels(const int16_t* levels, int a, int b, int last, const BlockCosts& costs) {
    const Scan& scan = scan_of(a, b);
    const int area = area_class(a, b);
    MagnitudeSums sums(scan);
    int64_t total = int64_t{costs.of_last(a, b, last)} -
                    costs.bit[zero_model(area, scan.frequency_class[last], 0)][1];
    for (int k = last; k >= 0; --k) {
        const int size = std::abs(levels[scan.place[k]]);
        const int32_t* level_cost =
            costs.level[area][scan.frequency_class[k]][sums.at(scan.margin[k])];
        total += level_cost[smaller(size, 3)];
        if (!size) continue;
        if (size > 2) total += costs.of_remainder(area, size - 3);
        sums.add(scan.margin[k], size);
    }
    return total;
}

}  // namespace

template <class Cost>
LevelChoice choose_levels(const int16_t* coefficients, int a, int b, int32_t step,
                          const BlockCosts& costs, int16_t* levels) {
    const Scan& scan = scan_of(a, b);
    const uint16_t *places = scan.place.data(), *margins = scan.margin.data();
    const uint8_t* frequency_classes = scan.frequency_class.data();
    const int area = area_class(a, b);
    memset(levels, 0, scan.count * sizeof *levels);
    const int end =
        end_above(coefficients, scan.number.data(), scan.count, least_coefficient(step));
    if (!end) return {-1, 0};
    MagnitudeSums sums(scan);
    const auto& level_costs = costs.level[area];
    const int finer = sizeof(Cost) == 4 ? 0 : costs.finer;
    const uint64_t inverse = inverse_of(step);
    // The places of levels that are not 0, from high to low frequencies, and the costs of the
    // coefficients beyond those of dropping them: of each level, and of all zeros before it.
    uint16_t kept[kMaxCoded];
    int64_t gain[kMaxCoded], zeros[kMaxCoded];
    int count = 0;
    int64_t rate = 0, skipped = 0;
    for (int k = end - 1; k >= 0; --k) {
        const int coefficient = coefficients[places[k]], size = std::abs(coefficient);
        const int32_t* level_cost = level_costs[frequency_classes[k]][sums.at(margins[k])];
        if (size * 4 <= step) {
            skipped += level_cost[0];
            continue;
        }
        const Cost dropped = coefficient_error<Cost>(size, finer);
        Cost cost = dropped + level_cost[0];
        const int chosen =
            choose_level(size, step, inverse, area, level_cost, costs, cost, finer);
        if (!chosen) {
            skipped += level_cost[0];
            continue;
        }
        levels[places[k]] = int16_t(coefficient < 0 ? -chosen : chosen);
        sums.add(margins[k], chosen);
        if (count) zeros[count - 1] = skipped, rate += skipped;
        skipped = 0;
        kept[count] = uint16_t(k), gain[count] = int64_t{cost} - dropped;
        rate += level_cost[smaller(chosen, 3)];
        if (chosen > 2) rate += costs.of_remainder(area, chosen - 3);
        ++count;
    }
    if (!count) return {-1, 0};
    zeros[count - 1] = skipped, rate += skipped;
    // The last level cannot be 0, so no bit codes that.
    const auto end_cost = [&](int k) {
        return int64_t{costs.of_last(a, b, k)} -
               costs.bit[zero_model(area, frequency_classes[k], 0)][1];
    };
    int64_t before = 0, best = INT64_MAX;
    int last = 0;
    for (int n = count - 1; n >= 0; --n) {
        before += zeros[n] + gain[n];
        const int64_t total = before + end_cost(kept[n]);
        if (total < best) best = total, last = n;
    }
    if (!last) return {kept[0], rate + end_cost(kept[0])};
    for (int n = 0; n < last; ++n) levels[places[kept[n]]] = 0;
    return {kept[last], cost_of_levels(levels, a, b, kept[last], costs)};
}

template LevelChoice choose_levels<int32_t>(const int16_t*, int, int, int32_t, const BlockCosts&,
                                            int16_t*);
template LevelChoice choose_levels<int64_t>(const int16_t*, int, int, int32_t, const BlockCosts&,
                                            int16_t*);

}  // namespace mmp
