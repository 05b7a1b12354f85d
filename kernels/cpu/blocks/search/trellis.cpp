#include "cpu/blocks/search/trellis.h"

#include <stdlib.h>

#include "cpu/blocks/levels.h"
#include "cpu/runtime/simd.h"
#include "shared/blocks/search.h"

namespace mmp {

namespace {

typedef int64_t Longs8 __attribute__((vector_size(64)));

// A path keeps the magnitudes of its latest levels, limited to 3.
constexpr int kKept = 16;

// The two levels of a quantiser that are nearest to a coefficient, one even and one odd, and their
// costs beyond those of level 0: only the distortion and the remainder.
struct Candidates {
    int levels[2][kQuantisers];  // by parity and quantiser; an even level may be 0
    int64_t gains[2][kQuantisers];
};

constexpr int64_t kFar = int64_t{1} << 60;

struct Trellis {
    int64_t costs[kQuantiserStates];
    uint32_t latest[kQuantiserStates];
};

// The states from which an even and an odd level lead to each state.
constexpr int kBeforeEven[kQuantiserStates] = {0, 2, 4, 6, 5, 1, 3, 7};

Candidates candidates_of(int size, int area, int32_t step, const BlockCosts& costs) {
    Candidates found;
    const int64_t dropped = coefficient_error<int64_t>(size, costs.finer);
    for (int quantiser = 0; quantiser < kQuantisers; ++quantiser) {
        const int floor = (4 * size + quantiser * step) / (2 * step);
        for (int level = smaller(floor, kMaxLevel - 1); level <= smaller(floor, kMaxLevel - 1) + 1; ++level) {
            const int parity = level & 1;
            found.levels[parity][quantiser] = level;
            int64_t& gain = found.gains[parity][quantiser];
            gain = kFar;
            if (!level) continue;
            const int32_t beyond = dependent_value(level, quantiser, step) - size;
            gain = coefficient_error<int64_t>(beyond, costs.finer) - dropped;
            if (level > 2) gain += costs.of_remainder(area, level - 3);
        }
    }
    return found;
}

}  // namespace

LevelChoice choose_dependent_levels(const int16_t* coefficients, int a, int b, int32_t step,
                                    const BlockCosts& costs, int16_t* levels) {
    const Scan& scan = scan_of(a, b);
    const int area = area_class(a, b);
    memset(levels, 0, scan.count * sizeof *levels);
    const int32_t least = int32_t(int64_t{step} * 5 / 32);
    int end = scan.count;
    const int32_t first_least = step * 5 / 16;
    while (end > 0 && std::abs(coefficients[scan.place[end - 1]]) <= first_least) --end;
    if (!end) return {-1, 0, 0};
    static thread_local int16_t chosen[kMaxCoded][kQuantiserStates];
    static thread_local int8_t from[kMaxCoded][kQuantiserStates];
    Trellis now, next;
    for (int64_t& cost : now.costs) cost = kFar;
    for (uint32_t& latest : now.latest) latest = 0;
    MagnitudeSums sums(scan);
    for (int k = end - 1; k >= 0; --k) {
        const int size = std::abs(coefficients[scan.place[k]]);
        const int margin = scan.margin[k], frequency = scan.frequency_class[k];
        const int older = sums.at(margin);
        int sum[kQuantiserStates];
        for (int s = 0; s < kQuantiserStates; ++s) sum[s] = older;
        for (const int distance : scan.around[k])
            if (distance && distance <= kKept)
                for (int s = 0; s < kQuantiserStates; ++s)
                    sum[s] += now.latest[s] >> 2 * (distance - 1) & 3;
        const bool few = size <= least;
        Candidates c;
        if (!few) c = candidates_of(size, area, step, costs);
        int64_t reached[2][kQuantiserStates];
        int16_t level[2][kQuantiserStates];
        for (int s = 0; s < kQuantiserStates; ++s) {
            const int q = quantiser_of(s);
            const int32_t* rates = costs.level[q][area][frequency][sum[s]];
            reached[0][s] = now.costs[s] + rates[0];
            level[0][s] = 0;
            reached[1][s] = kFar * 2;
            level[1][s] = 1;
            if (few) continue;
            const int64_t even = now.costs[s] + c.gains[0][q] + rates[smaller(c.levels[0][q], 3)];
            if (even < reached[0][s]) reached[0][s] = even, level[0][s] = int16_t(c.levels[0][q]);
            reached[1][s] = now.costs[s] + c.gains[1][q] + rates[smaller(c.levels[1][q], 3)];
            level[1][s] = int16_t(c.levels[1][q]);
        }
        for (int d = 0; d < kQuantiserStates; ++d) {
            const int before[2] = {kBeforeEven[d], kBeforeEven[d ^ 2]};
            const int odd = reached[1][before[1]] < reached[0][before[0]];
            const int s = before[odd];
            next.costs[d] = reached[odd][s];
            chosen[k][d] = level[odd][s];
            from[k][d] = int8_t(s);
            next.latest[d] = now.latest[s] << 2 | uint32_t(smaller(level[odd][s], 3));
        }
        // Paths that begin here.
        if (!few) {
            const int32_t* rates = costs.level[0][area][frequency][0];
            const int64_t start = int64_t{costs.of_last(a, b, k)} - costs.bit[zero_model(area, frequency, 0)][1];
            for (int parity = 0; parity < 2; ++parity) {
                const int l = c.levels[parity][0];
                const int64_t cost = start + c.gains[parity][0] + rates[smaller(l, 3)];
                const int d = next_state(0, l);
                if (l && cost < next.costs[d]) {
                    next.costs[d] = cost, next.latest[d] = uint32_t(smaller(l, 3));
                    chosen[k][d] = int16_t(l), from[k][d] = -1;
                }
            }
        }
        const int shown = k + kKept;
        if (shown < end) {
            int best = 0;
            for (int s = 1; s < kQuantiserStates; ++s) if (now.costs[s] < now.costs[best]) best = s;
            const int magnitude = now.latest[best] >> 30;
            if (magnitude) sums.add(scan.margin[shown], magnitude);
        }
        now = next;
    }
    int best = 0;
    for (int s = 1; s < kQuantiserStates; ++s) if (now.costs[s] < now.costs[best]) best = s;
    if (now.costs[best] >= kFar / 2) return {-1, 0, 0};
    int last = 0;
    for (int k = 0, s = best; s >= 0; ++k) {
        const int place = scan.place[k], level = chosen[k][s];
        levels[place] = int16_t(coefficients[place] < 0 ? -level : level);
        last = k;
        s = from[k][s];
    }
    return {last, cost_of_levels(levels, a, b, last, true, costs), 0};
}

}  // namespace mmp
