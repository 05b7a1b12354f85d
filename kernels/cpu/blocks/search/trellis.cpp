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

constexpr int64_t kFar = int64_t{1} << 60;

// The even and the odd level of each quantiser that are nearest to each coefficient.
struct Candidates {
    // The first index is the parity, the second the quantiser, the third the number in scan order.
    using Values = int32_t[2][kQuantisers][kMaxCoded];

    int32_t sizes[kMaxCoded];  // of the coefficients
    Values levels;
    int64_t gains[2][kQuantisers][kMaxCoded];  // costs beyond that of level 0, but for the rates
    bool large[kMaxCoded];                     // whether a level is above 2

    int limited(int parity, int quantiser, int k) const {
        return smaller(levels[parity][quantiser][k], 3);
    }
    void find(const int16_t* coefficients, const Scan& scan, int end, int32_t step, int finer);
};

// What leads to each state, in lanes of 0 or -1.
struct Decisions {
    int8_t nonzero[kQuantiserStates];  // by the state before an even level: the level is not 0
    int8_t odd[kQuantiserStates];
    int8_t first[kQuantiserStates];  // the path begins here
};

MMP_INLINE StateCosts errors_of(StateInts differences, int finer) {
    const StateBits squares = (StateBits)(differences * differences);
    return __builtin_convertvector(squares, StateCosts) << 2 * finer >> 2;
}

MMP_SIMD_LEVELS void Candidates::find(const int16_t* coefficients, const Scan& scan, int end,
                                      int32_t step, int finer) {
    for (int k = 0; k < end; ++k) sizes[k] = std::abs(coefficients[scan.place[k]]);
    for (int k = end; k % 8; ++k) sizes[k] = 0;
    const float inverse = 1.0f / float(step);
    const int32_t most = kMaxLevel - 2;
    for (int k = 0; k < end; k += 8) {
        const auto size = loaded<StateInts>(sizes + k);
        // Rounded first, then exact.
        StateInts floor = __builtin_convertvector(
            __builtin_convertvector(2 * size, Floats8) * inverse, StateInts);
        floor += (floor * step > 2 * size) - ((floor + 1) * step <= 2 * size);
        floor = floor < most ? floor : StateInts{} + most;
        const StateInts upper = 2 * (2 * size - floor * step) >= step;
        const StateCosts dropped = errors_of(size, finer);
        for (int quantiser = 0; quantiser < kQuantisers; ++quantiser) {
            const StateInts lower = quantiser ? floor - upper : floor;
            for (int parity = 0; parity < 2; ++parity) {
                const StateInts level = parity ? lower | 1 : lower + (lower & 1);
                const StateInts halves = 2 * level - quantiser;
                StateInts value = (halves * step + 2) >> 2;
                value = value < kMaxCoefficient ? value : StateInts{} + kMaxCoefficient;
                StateCosts gain = errors_of(value - size, finer) - dropped;
                gain = __builtin_convertvector(level != 0, StateCosts) ? gain : StateCosts{} + kFar;
                store(levels[parity][quantiser] + k, level);
                store(gains[parity][quantiser] + k, gain);
            }
        }
    }
    for (int k = 0; k < end; ++k) large[k] = larger(levels[0][1][k], levels[1][1][k]) > 2;
}

// The value for the quantiser of each state.
template <class Lanes, class Value>
MMP_INLINE Lanes by_quantiser(Value first, Value second) {
    return Lanes{first, second, first, second, first, second, first, second};
}

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

// The rates of a magnitude of each quantiser in its states, by the sums around.
MMP_INLINE StateCosts rates_of(const int32_t* first, const int32_t* second, StateInts sums) {
    const auto low = loaded<StateInts>(first), high = loaded<StateInts>(second);
    const StateInts is_second{0, -1, 0, -1, 0, -1, 0, -1};
    const StateInts rates =
        is_second ? chosen_lanes(high, high, sums) : chosen_lanes(low, low, sums);
    return __builtin_convertvector(rates, StateCosts);
}

// The magnitudes of levels, at most 3, on the path to each state. Those of a group of places in scan
// order are in `latest`, two bits each, while the group is searched. Above them is the state from
// which the path came to the group, or kNowhere. Then they join the older ones, by scan number.
constexpr int kGroup = Scan::kGroup;
constexpr uint32_t kNowhere = 8;

class PathMagnitudes {
public:
    PathMagnitudes(const Scan& scan, int end) : scan_(scan), end_(end) {
        const int last = smaller(end + scan.span, scan.count);
        const int first = end / kGroup * kGroup;
        memset(older_[first], 0, size_t(last - first) * sizeof *older_);
    }
    // The classes of the sums around the level with this number.
    MMP_INLINE StateInts around(int k) const {
        const auto latest = loaded<StateBits>(latest_);
        StateBits sums{};
        for (const uint8_t shift : scan_.recent[k]) sums += latest >> shift & 3;
        uint64_t older = 0;
        for (const uint16_t number : scan_.older[k]) {
            uint64_t lanes;
            memcpy(&lanes, older_[number], sizeof lanes);
            older += lanes;
        }
        if (older) {
            const StateBits from = latest >> 2 * recent(k);
            const StateInts of_states =
                __builtin_convertvector(loaded<Bytes8>(&older), StateInts);
            const StateInts of_paths = chosen_lanes(of_states, of_states, (StateInts)(from & 7));
            sums += (from & kNowhere) == 0 ? (StateBits)of_paths : StateBits{};
        }
        const auto signed_sums = (StateInts)sums;
        const StateInts limited = signed_sums < 5 ? signed_sums : StateInts{} + 5;
        return limited - (signed_sums > 6) - (signed_sums > 9);  // as sum_class()
    }
    // Adds the magnitudes that lead to each state.
    MMP_INLINE void add(StateInts even_sizes, StateInts odd_sizes, StateInts is_odd) {
        const StateBits longer = loaded<StateBits>(latest_) << 2;
        const StateBits even = longer | (StateBits)even_sizes, odd = longer | (StateBits)odd_sizes;
        store(latest_, is_odd ? after_odd(odd) : after_even(even));
    }
    void begin(int k, int state, uint32_t limited) {
        latest_[state] = kNowhere << 2 * (recent(k) + 1) | limited;
    }
    // Call after each level.
    MMP_INLINE void end(int k) {
        if (k % kGroup) return;
        const auto latest = loaded<StateBits>(latest_);
        const StateBits from = latest >> 2 * kGroup;
        Bytes8 lanes = __builtin_convertvector(from & 7, Bytes8);
        Bytes8 known = __builtin_convertvector((from & kNowhere) == 0, Bytes8);
        const Bytes16 both = joined<Bytes16>(lanes, lanes + 8), keep = joined<Bytes16>(known, known);
        for (int number = k + kGroup; number < smaller(k + scan_.span, end_); number += 2) {
            const auto two = loaded<Bytes16>(older_[number]);
            store(older_[number], chosen_lanes(two, two, both) & keep);
        }
        for (int i = 0; i < kGroup; ++i)
            store(older_[k + i], __builtin_convertvector(latest >> 2 * i & 3, Bytes8));
        store(latest_, StateBits{0, 1, 2, 3, 4, 5, 6, 7});
    }

private:
    static int recent(int k) { return kGroup - 1 - k % kGroup; }

    const Scan& scan_;
    const int end_;
    uint32_t latest_[kQuantiserStates] = {};
    uint8_t older_[kMaxCoded + kGroup][kQuantiserStates];
};

// Decides from high to low frequencies, and returns the state of least cost at the end, or -1.
MMP_SIMD_LEVELS int search_states(const Candidates& candidates, const Scan& scan, int a, int b,
                                  int family, int end, int32_t step, const BlockCosts& costs,
                                  Decisions* decisions) {
    const int area = area_class(a, b);
    const uint8_t* places = costs.places_of(scan, family);
    const int32_t least = first_coefficient(step);
    PathMagnitudes magnitudes(scan, end);
    StateCosts reached = StateCosts{} + kFar;
    const auto remainder_of = [&](int parity, int quantiser, int k, int sum) {
        const int level = candidates.levels[parity][quantiser][k];
        if (level <= 2) return int64_t{0};
        return costs.of_remainder(costs.remainder_context(area, places[k], sum), level - 3);
    };
    for (int k = end - 1; k >= 0; --k) {
        Decisions& decision = decisions[k];
        const int place = places[k];
        const auto* first = costs.by_sum[0][area][place];
        const auto* second = costs.by_sum[1][area][place];
        const StateInts sums = magnitudes.around(k);
        const auto cost_of = [&](int parity, int low, int high) MMP_INLINED {
            const auto& gains = candidates.gains[parity];
            StateCosts cost = reached + by_quantiser<StateCosts>(gains[0][k], gains[1][k]) +
                              rates_of(first[low], second[high], sums);
            if (candidates.large[k])
                for (int state = 0; state < kQuantiserStates; ++state)
                    cost[state] += remainder_of(parity, quantiser_of(state), k, sums[state]);
            return cost;
        };
        const int low[2] = {candidates.limited(0, 0, k), candidates.limited(1, 0, k)};
        const int high[2] = {candidates.limited(0, 1, k), candidates.limited(1, 1, k)};
        const StateCosts zero = reached + rates_of(first[0], second[0], sums);
        StateCosts even = cost_of(0, low[0], high[0]);
        const StateCosts odd = after_odd(cost_of(1, low[1], high[1]));
        const StateCosts nonzero = even < zero;
        even = after_even(nonzero ? even : zero);
        const StateCosts is_odd = odd < even;
        reached = is_odd ? odd : even;
        magnitudes.add(by_quantiser<StateInts>(low[0], high[0]) &
                           __builtin_convertvector(nonzero, StateInts),
                       by_quantiser<StateInts>(low[1], high[1]),
                       __builtin_convertvector(is_odd, StateInts));
        keep_lanes(decision.nonzero, nonzero);
        keep_lanes(decision.odd, is_odd);
        memset(decision.first, 0, sizeof decision.first);
        if (candidates.sizes[k] > least) {
            const int64_t start =
                int64_t{costs.of_last(a, b, k)} - costs.nonzero[area][place];
            for (int parity = 0; parity < 2; ++parity) {
                const int64_t cost = start + candidates.gains[parity][0][k] +
                                     first[low[parity]][0] + remainder_of(parity, 0, k, 0);
                const int state = next_state(0, parity);
                if (cost >= reached[state]) continue;
                reached[state] = cost;
                magnitudes.begin(k, state, uint32_t(low[parity]));
                decision.first[state] = -1;
                decision.odd[state] = int8_t(-parity);
            }
        }
        magnitudes.end(k);
    }
    int64_t all[kQuantiserStates];
    store(all, reached);
    int best = 0;
    for (int state = 1; state < kQuantiserStates; ++state)
        if (all[state] < all[best]) best = state;
    return all[best] < kFar / 2 ? best : -1;
}

}  // namespace

LevelChoice choose_dependent_levels(const int16_t* coefficients, int a, int b, int family,
                                    int32_t step, const BlockCosts& costs, int16_t* levels) {
    const Scan& scan = scan_of(a, b);
    memset(levels, 0, scan.count * sizeof *levels);
    const int end = end_above(coefficients, scan.number.data(), scan.count, first_coefficient(step));
    if (!end) return {-1, 0, 0};
    Candidates candidates;
    candidates.find(coefficients, scan, end, step, costs.finer);
    Decisions decisions[kMaxCoded];
    int state = search_states(candidates, scan, a, b, family, end, step, costs, decisions);
    if (state < 0) return {-1, 0, 0};
    constexpr int kBefore[2][kQuantiserStates] = {{0, 2, 4, 6, 5, 1, 3, 7}, {4, 6, 0, 2, 3, 7, 5, 1}};
    for (int k = 0;; ++k) {
        const Decisions& decision = decisions[k];
        const int odd = decision.odd[state] & 1, place = scan.place[k];
        const bool first = decision.first[state];
        state = first ? 0 : kBefore[odd][state];
        const int level = odd || first || decision.nonzero[state]
                              ? candidates.levels[odd][quantiser_of(state)][k]
                              : 0;
        levels[place] = int16_t(coefficients[place] < 0 ? -level : level);
        if (first) return {k, cost_of_levels(levels, a, b, family, k, true, costs), 0};
    }
}

}  // namespace mmp
