#include "cpu/blocks/search/trellis.h"

#include <stdlib.h>

#include "cpu/blocks/levels.h"
#include "cpu/runtime/simd.h"
#include "shared/blocks/search.h"

namespace mmp {

namespace {

// A lane for each state.
typedef int64_t StateCosts __attribute__((vector_size(64)));
using StateInts = Ints8;
using StateBits = Unsigned8;

constexpr int kKept = 16;  // latest magnitudes that a path keeps, each in two bits
constexpr int64_t kFar = int64_t{1} << 60;

// The level 0, or even, and the odd level of each quantiser that is nearest to a coefficient.
struct Candidates {
    int16_t levels[2][kQuantisers];  // by parity and quantiser
    int64_t gains[2][kQuantisers];   // costs beyond that of dropping the coefficient, but for rates
};

// What leads to each state: lanes of 0 or -1.
struct Decisions {
    Candidates candidates;
    int8_t nonzero[kQuantiserStates];  // by the state before an even level: the level is not 0
    int8_t odd[kQuantiserStates];
    int8_t first[kQuantiserStates];    // the path begins here
};

Candidates candidates_of(int size, int area, int32_t step, uint64_t inverse,
                         const BlockCosts& costs) {
    const int floor = smaller(int((size * 2 * inverse) >> 32), kMaxLevel - 2);
    const int upper = 2 * (2 * size - floor * step) >= step;
    const int64_t dropped = coefficient_error<int64_t>(size, costs.finer);
    Candidates found;
    for (int quantiser = 0; quantiser < kQuantisers; ++quantiser)
        for (int above = 0; above < 2; ++above) {
            const int level = floor + (quantiser ? upper : 0) + above, parity = level & 1;
            const int32_t beyond = dependent_value(level, quantiser, step) - size;
            int64_t gain = coefficient_error<int64_t>(beyond, costs.finer) - dropped;
            if (level > 2) gain += costs.of_remainder(area, level - 3);
            found.levels[parity][quantiser] = int16_t(level);
            found.gains[parity][quantiser] = level ? gain : kFar;
        }
    return found;
}

// The value for the quantiser of each state.
template <class Lanes, class Value>
MMP_INLINE Lanes by_quantiser(Value first, Value second) {
    return Lanes{first, second, first, second, first, second, first, second};
}
MMP_INLINE StateInts is_second() { return by_quantiser<StateInts>(0, -1); }

// Moves the lanes of states along an even, or odd, level.
template <class Lanes>
MMP_INLINE Lanes after_even(Lanes v) {
    return chosen_lanes(v, v, Lanes{0, 2, 4, 6, 5, 1, 3, 7});
}
template <class Lanes>
MMP_INLINE Lanes after_odd(Lanes v) {
    return chosen_lanes(v, v, Lanes{4, 6, 0, 2, 3, 7, 5, 1});
}

template <class Comparison>
MMP_INLINE void keep_lanes(int8_t* lanes, Comparison comparison) {
    typedef int8_t Chars8 __attribute__((vector_size(8)));
    store(lanes, __builtin_convertvector(comparison, Chars8));
}

// The rates of a magnitude of at most 3 in each state, by the sum around it.
MMP_INLINE StateCosts rates_of(const int32_t (*first)[8], const int32_t (*second)[8], int first_size,
                               int second_size, StateInts sums) {
    const auto one = loaded<StateInts>(first[first_size]);
    const auto two = loaded<StateInts>(second[second_size]);
    const StateInts rates =
        is_second() ? chosen_lanes(two, two, sums) : chosen_lanes(one, one, sums);
    return __builtin_convertvector(rates, StateCosts);
}

int least_state(const int64_t* costs) {
    int best = 0;
    for (int state = 1; state < kQuantiserStates; ++state)
        if (costs[state] < costs[best]) best = state;
    return best;
}

// Decides from high to low frequencies, and returns the state of least cost at the end, or -1.
MMP_SIMD_LEVELS int search_states(const int16_t* coefficients, int a, int b, int end, int32_t step,
                                  const BlockCosts& costs, Decisions* decisions) {
    const Scan& scan = scan_of(a, b);
    const int area = area_class(a, b);
    const uint64_t inverse = inverse_of(step);
    const int32_t least_first = first_coefficient(step);
    MagnitudeSums older(scan);
    StateCosts reached = StateCosts{} + kFar;
    StateBits latest{};
    for (int k = end - 1; k >= 0; --k) {
        Decisions& decision = decisions[k];
        const int size = std::abs(coefficients[scan.place[k]]), frequency = scan.frequency_class[k];
        const Candidates c = decision.candidates = candidates_of(size, area, step, inverse, costs);
        const auto limited = [&](int parity, int quantiser) {
            return smaller(int(c.levels[parity][quantiser]), 3);
        };
        const int32_t(*first)[8] = costs.by_sum[0][area][frequency];
        const int32_t(*second)[8] = costs.by_sum[1][area][frequency];
        StateBits around = StateBits{} + uint32_t(older.at(scan.margin[k]));
        for (const int shift : scan.shifts[k]) around += latest >> shift & 3;
        const StateInts sums =
            __builtin_convertvector(around < kSums - 1 ? around : StateBits{} + (kSums - 1),
                                    StateInts);
        const StateCosts zero = reached + rates_of(first, second, 0, 0, sums);
        StateCosts even = reached + by_quantiser<StateCosts>(c.gains[0][0], c.gains[0][1]) +
                          rates_of(first, second, limited(0, 0), limited(0, 1), sums);
        const StateCosts odd =
            after_odd(reached + by_quantiser<StateCosts>(c.gains[1][0], c.gains[1][1]) +
                      rates_of(first, second, limited(1, 0), limited(1, 1), sums));
        const StateCosts nonzero = even < zero;
        even = after_even(nonzero ? even : zero);
        const StateCosts is_odd = odd < even;
        const int shown = k + kKept;
        if (shown < end) {
            const StateBits oldest = latest >> 2 * (kKept - 1);
            const StateBits other = oldest != StateBits{} + oldest[0];
            uint32_t size_shown = oldest[0];
            typedef int8_t Chars8 __attribute__((vector_size(8)));
            const Chars8 differs = __builtin_convertvector(other, Chars8);
            uint64_t any;
            memcpy(&any, &differs, 8);
            if (any) {
                int64_t all[kQuantiserStates];
                store(all, reached);
                size_shown = oldest[least_state(all)];
            }
            if (size_shown) older.add(scan.margin[shown], int(size_shown));
        }
        reached = is_odd ? odd : even;
        const StateBits longer = latest << 2;
        const StateBits even_bits =
            longer | (by_quantiser<StateBits>(uint32_t(limited(0, 0)), uint32_t(limited(0, 1))) &
                      __builtin_convertvector(nonzero, StateBits));
        const StateBits odd_bits =
            longer | by_quantiser<StateBits>(uint32_t(limited(1, 0)), uint32_t(limited(1, 1)));
        const StateBits odd_mask = __builtin_convertvector(is_odd, StateBits);
        latest = (after_odd(odd_bits) & odd_mask) | (after_even(even_bits) & ~odd_mask);
        keep_lanes(decision.nonzero, nonzero);
        keep_lanes(decision.odd, is_odd);
        memset(decision.first, 0, sizeof decision.first);
        if (size <= least_first) continue;
        const int64_t start = int64_t{costs.of_last(a, b, k)} -
                              costs.bit[zero_model(area, frequency, 0)][1];
        for (int parity = 0; parity < 2; ++parity) {
            const int64_t cost =
                start + c.gains[parity][0] + costs.level[0][area][frequency][0][limited(parity, 0)];
            const int state = next_state(0, parity);
            if (cost >= reached[state]) continue;
            reached[state] = cost;
            latest[state] = uint32_t(limited(parity, 0));
            decision.first[state] = -1;
            decision.odd[state] = int8_t(-parity);
        }
    }
    int64_t all[kQuantiserStates];
    store(all, reached);
    const int best = least_state(all);
    return all[best] < kFar / 2 ? best : -1;
}

}  // namespace

LevelChoice choose_dependent_levels(const int16_t* coefficients, int a, int b, int32_t step,
                                    const BlockCosts& costs, int16_t* levels) {
    const Scan& scan = scan_of(a, b);
    memset(levels, 0, scan.count * sizeof *levels);
    const int end = end_above(coefficients, scan.number.data(), scan.count, first_coefficient(step));
    if (!end) return {-1, 0, 0};
    Decisions decisions[kMaxCoded];
    int state = search_states(coefficients, a, b, end, step, costs, decisions);
    if (state < 0) return {-1, 0, 0};
    constexpr int kBefore[2][kQuantiserStates] = {{0, 2, 4, 6, 5, 1, 3, 7}, {4, 6, 0, 2, 3, 7, 5, 1}};
    for (int k = 0;; ++k) {
        const Decisions& decision = decisions[k];
        const int odd = decision.odd[state] & 1, place = scan.place[k];
        const bool first = decision.first[state];
        state = first ? 0 : kBefore[odd][state];
        const int level = odd || first || decision.nonzero[state]
                              ? decision.candidates.levels[odd][quantiser_of(state)]
                              : 0;
        levels[place] = int16_t(coefficients[place] < 0 ? -level : level);
        if (first) return {k, cost_of_levels(levels, a, b, k, true, costs), 0};
    }
}

}  // namespace mmp
