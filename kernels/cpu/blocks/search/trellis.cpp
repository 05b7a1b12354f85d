#include "cpu/blocks/search/trellis.h"

#include <stdlib.h>

#include "cpu/blocks/levels.h"
#include "cpu/blocks/search/cell_weights.h"
#include "cpu/runtime/simd.h"
#include "shared/blocks/search.h"

namespace mmp {

namespace {

// One lane per state. Costs use 32 bits where all sums fit. A path costs between kMost - kFar and
// kMost. kFar marks a state that no path reaches: a path that begins with kFar costs more than
// kMost, and 2 kFar + kMost does not overflow.
using StateInts = Ints8;
using StateBits = Unsigned8;
typedef int64_t Longs8 __attribute__((vector_size(64)));
template <class Cost>
struct Costs;
template <>
struct Costs<int32_t> {
    using Lanes = StateInts;
    static constexpr int32_t kFar = 7 << 27, kMost = 1 << 28;
};
template <>
struct Costs<int64_t> {
    using Lanes = Longs8;
    static constexpr int64_t kFar = int64_t{1} << 60, kMost = kFar / 2;
};

// The magnitudes of coefficients in scan order.
struct Magnitudes {
    int32_t sizes[kMaxCoded];
    int end;

    void gather(const int16_t* coefficients, const Scan& scan);
    bool small_costs(int32_t step, int weight, const BlockCosts& costs) const;
};

void Magnitudes::gather(const int16_t* coefficients, const Scan& scan) {
    for (int k = 0; k < end; ++k) sizes[k] = std::abs(coefficients[scan.place[k]]);
    for (int k = end; k % 8; ++k) sizes[k] = 0;
}

// Whether costs fit 32 bits. Bounds used: a coded bit costs at most as much as nine bits of
// probability 1/2; a level needs at most 4 bits plus, for magnitudes from one step on, its
// remainder; an error is at most the larger of the coefficient and half a step; levels save at most
// the squared coefficients.
bool Magnitudes::small_costs(int32_t step, int weight, const BlockCosts& costs) const {
    using Limits = Costs<int32_t>;
    int64_t saved = 0;
    int32_t most = 0, large = 0;
    for (int k = 0; k < end; ++k) {
        saved += int64_t{sizes[k]} * sizes[k];
        most = larger(most, sizes[k]);
        large += sizes[k] >= step;
    }
    const int digits = floor_log2(2 * most / step + 2) + 1;
    const int64_t bits = int64_t{end + 8} * 30 + int64_t{large} * 10 * digits;
    const int64_t errors = int64_t{end} * step * step / 4;
    // Errors are computed before they are weighed, so that both have to fit.
    const int most_weight = larger(weight, kOneWeight);
    const auto of_errors = [&](int64_t sum) {
        return weighed(sum << 2 * costs.finer >> 2, most_weight);
    };
    return of_errors(saved) < Limits::kFar - Limits::kMost &&
           of_errors(errors) + bits * (costs.plain + 1) < Limits::kMost;
}

// For each coefficient and quantiser, the nearest even and the nearest odd level.
template <class Cost>
struct Candidates {
    // Indexed by parity, scan position, and quantiser.
    int32_t levels[2][kMaxCoded][kQuantisers];
    int32_t limited[2][kMaxCoded][kQuantisers];  // levels clipped to 3
    Cost gains[2][kMaxCoded][kQuantisers];       // cost minus the cost of level 0, without the rate
    bool large[kMaxCoded];                       // whether a level exceeds 2

    void find(const Magnitudes& magnitudes, int32_t step, int weight, int finer);
};

// Decision bits for backtracking. kNonzero, indexed by the state before an even level: this level
// is not 0. kOdd, indexed by the state after it: the level is odd. kFirst, indexed by the state
// after it: the path begins with this level.
constexpr int kNonzero = 1, kOdd = 2, kFirst = 4;
using Decisions = int32_t[kQuantiserStates];

template <class Cost>
MMP_INLINE auto errors_of(StateInts differences, int finer) {
    const StateBits squares = (StateBits)(differences * differences);
    const auto lanes = __builtin_convertvector(squares, typename Costs<Cost>::Lanes);
    return finer ? lanes << (2 * finer - 2) : lanes >> 2;
}

// weighed() without a product of more bits than its result has.
template <class Lanes>
MMP_INLINE Lanes weighed_lanes(Lanes cost, int weight) {
    return (cost >> kWeightBits) * weight + ((cost & (kOneWeight - 1)) * weight >> kWeightBits);
}

// Stores the lanes of two vectors interleaved.
template <class Value, class Lanes>
MMP_INLINE void store_pairs(Value (*pairs)[2], const Lanes (&lanes)[2]) {
    store(pairs, chosen_lanes(lanes[0], lanes[1], Lanes{0, 8, 1, 9, 2, 10, 3, 11}));
    store(pairs + 4, chosen_lanes(lanes[0], lanes[1], Lanes{4, 12, 5, 13, 6, 14, 7, 15}));
}

template <class Cost>
MMP_SIMD_LEVELS void Candidates<Cost>::find(const Magnitudes& magnitudes, int32_t step, int weight,
                                            int finer) {
    using Lanes = typename Costs<Cost>::Lanes;
    const int end = magnitudes.end;
    const float inverse = 1.0f / float(step);
    const int32_t most = kMaxLevel - 2;
    for (int k = 0; k < end; k += 8) {
        const auto size = loaded<StateInts>(magnitudes.sizes + k);
        // Estimated in floating point, then corrected to the exact quotient.
        StateInts floor = __builtin_convertvector(
            __builtin_convertvector(2 * size, Floats8) * inverse, StateInts);
        floor += (floor * step > 2 * size) - ((floor + 1) * step <= 2 * size);
        floor = floor < most ? floor : StateInts{} + most;
        const StateInts upper = 2 * (2 * size - floor * step) >= step;
        const Lanes dropped = errors_of<Cost>(size, finer);
        for (int parity = 0; parity < 2; ++parity) {
            StateInts level[kQuantisers], few[kQuantisers];
            Lanes gain[kQuantisers];
            for (int quantiser = 0; quantiser < kQuantisers; ++quantiser) {
                const StateInts lower = quantiser ? floor - upper : floor;
                StateInts& own = level[quantiser];
                own = parity ? lower | 1 : lower + (lower & 1);
                few[quantiser] = own < 3 ? own : StateInts{} + 3;
                StateInts value = ((2 * own - quantiser) * step + 2) >> 2;
                value = value < kMaxCoefficient ? value : StateInts{} + kMaxCoefficient;
                Lanes own_gain = errors_of<Cost>(value - size, finer) - dropped;
                if (weight != kOneWeight) own_gain = weighed_lanes(own_gain, weight);
                gain[quantiser] = __builtin_convertvector(own != 0, Lanes)
                                      ? own_gain
                                      : Lanes{} + Costs<Cost>::kFar;
            }
            store_pairs(levels[parity] + k, level);
            store_pairs(limited[parity] + k, few);
            store_pairs(gains[parity] + k, gain);
        }
    }
    for (int k = 0; k < end; ++k) large[k] = larger(levels[0][k][1], levels[1][k][1]) > 2;
}

// Broadcasts the value of each state's quantiser to its lane.
MMP_INLINE StateInts by_quantiser(const int32_t* values) {
    int64_t both;
    memcpy(&both, values, sizeof both);
    return reinterpret_cast<StateInts>(Longs4{} + both);
}
MMP_INLINE Longs8 by_quantiser(const int64_t* values) {
    return Longs8{values[0], values[1], values[0], values[1],
                  values[0], values[1], values[0], values[1]};
}

// Expands eight bytes to eight 32-bit lanes.
MMP_INLINE StateInts in_lanes(uint64_t bytes) {
    const auto low = uint32_t(bytes), high = uint32_t(bytes >> 32);
    const StateBits halves{low, low, low, low, high, high, high, high};
    return (StateInts)(halves >> StateBits{0, 8, 16, 24, 0, 8, 16, 24} & 255);
}

// Permutes lanes by the state transition of an even (odd) level.
template <class Lanes>
MMP_INLINE Lanes after_even(Lanes v) {
    return chosen_lanes(v, v, Lanes{0, 2, 4, 6, 5, 1, 3, 7});
}
template <class Lanes>
MMP_INLINE Lanes after_odd(Lanes v) {
    return chosen_lanes(v, v, Lanes{4, 6, 0, 2, 3, 7, 5, 1});
}

// Looks up the rate of a magnitude for each state, by quantiser and by class of sums.
MMP_INLINE StateInts rates_of(const int32_t* first, const int32_t* second, StateInts sums) {
    const auto low = loaded<StateInts>(first), high = loaded<StateInts>(second);
    const StateInts is_second{0, -1, 0, -1, 0, -1, 0, -1};
    return is_second ? chosen_lanes(high, high, sums) : chosen_lanes(low, low, sums);
}

// Magnitudes of the levels, clipped to 3, on the path to each state. While a group of kGroup scan
// positions is searched, `latest` holds them, two bits per level; above these bits is the state
// from which the path entered the group, or kNowhere. At the end of a group, they join the older
// magnitudes, by scan position.
constexpr int kGroup = Scan::kGroup;
constexpr uint32_t kNowhere = 8;

class PathMagnitudes {
public:
    PathMagnitudes(const Scan& scan, int end) : scan_(scan), end_(end) {
        const int last = smaller(end + scan.span, scan.count);
        const int first = end / kGroup * kGroup;
        memset(older_[first], 0, size_t(last - first) * sizeof *older_);
    }
    // Classes of the sums of magnitudes around the level at scan position k, one lane per state.
    MMP_INLINE StateInts around(int k, const StateBits& latest) const {
        StateBits sums{};
        const Scan::Neighbours& neighbours = scan_.neighbours[k];
        for (int n = 0; n < neighbours.recents; ++n) sums += latest >> neighbours.recent[n] & 3;
        uint64_t older = 0;
        for (int n = 0; n < neighbours.olders; ++n) {
            uint64_t lanes;
            memcpy(&lanes, older_[neighbours.older[n]], sizeof lanes);
            older += lanes;
        }
        if (older) {
            const StateBits from = latest >> 2 * recent(k);
            const StateInts of_states = in_lanes(older);
            const StateInts of_paths = chosen_lanes(of_states, of_states, (StateInts)(from & 7));
            sums += (from & kNowhere) == 0 ? (StateBits)of_paths : StateBits{};
        }
        const auto signed_sums = (StateInts)sums;
        const StateInts limited = signed_sums < 5 ? signed_sums : StateInts{} + 5;
        return limited - (signed_sums > 6) - (signed_sums > 9);  // sum_class(), vectorised
    }
    // Lane of `latest` for a path that begins with the level at scan position k.
    static uint32_t begun(int k, int magnitude) {
        return kNowhere << 2 * (recent(k) + 1) | uint32_t(magnitude);
    }
    // Moves a finished group to the older magnitudes. Call after each level.
    MMP_INLINE void end(int k, StateBits& latest) {
        if (k % kGroup) return;
        // 16 lanes: the states of two scan positions.
        const auto from = __builtin_convertvector(latest >> 2 * kGroup, Words8);
        const auto in_bytes = [](Words8 low, Words8 high) MMP_INLINED {
            return __builtin_convertvector(joined<Words16>(low, high), Bytes16);
        };
        const Words8 known = (from & kNowhere) == 0;
        const Bytes16 both = in_bytes(from & 7, (from & 7) + 8), keep = in_bytes(known, known);
        for (int number = k + kGroup; number < smaller(k + scan_.span, end_); number += 2) {
            const auto two = loaded<Bytes16>(older_[number]);
            store(older_[number], chosen_lanes(two, two, both) & keep);
        }
        const auto own = __builtin_convertvector(latest, Words8);
        for (int i = 0; i < kGroup; i += 2)
            store(older_[k + i], in_bytes(own >> 2 * i & 3, own >> 2 * (i + 1) & 3));
        latest = StateBits{0, 1, 2, 3, 4, 5, 6, 7};
    }

private:
    static int recent(int k) { return kGroup - 1 - k % kGroup; }

    const Scan& scan_;
    const int end_;
    uint8_t older_[kMaxCoded + kGroup][kQuantiserStates];
};

// Viterbi search from high to low frequencies. Writes the final state of least cost to `best`, or
// -1 if there is no path, and returns the cost.
template <class Cost>
MMP_SIMD_LEVELS Cost search_states(const Magnitudes& magnitudes, const Candidates<Cost>& candidates,
                                   const Scan& scan, int a, int b, int family, int32_t step,
                                   const BlockCosts& costs, Decisions* decisions, int& best) {
    static_assert(next_state(0, 0) == 0 && next_state(0, 1) == 2);
    using Lanes = typename Costs<Cost>::Lanes;
    constexpr Cost kFar = Costs<Cost>::kFar;
    const int area = area_class(a, b);
    const uint8_t* places = costs.places_of(scan, family);
    const int32_t least = first_coefficient(step);
    const auto remainder_of = [&](int parity, int quantiser, int k, int sum) {
        const int level = candidates.levels[parity][k][quantiser];
        if (level <= 2) return Cost{0};
        const int context = costs.remainder_context(area, places[k], sum);
        return Cost(costs.of_remainder(context, level - 3));
    };
    PathMagnitudes paths(scan, magnitudes.end);
    StateBits latest{};
    Lanes reached = Lanes{} + kFar;
    for (int k = magnitudes.end - 1; k >= 0; --k) {
        const int place = places[k];
        const auto* first = costs.by_sum[0][area][place];
        const auto* second = costs.by_sum[1][area][place];
        const StateInts sums = paths.around(k, latest);
        const auto with_rates = [&](int low, int high) MMP_INLINED {
            return reached + __builtin_convertvector(rates_of(first[low], second[high], sums), Lanes);
        };
        const auto with_level = [&](int parity) MMP_INLINED {
            const int32_t* levels = candidates.limited[parity][k];
            Lanes cost = with_rates(levels[0], levels[1]) +
                         by_quantiser(candidates.gains[parity][k]);
            if (candidates.large[k]) {
                int32_t around[kQuantiserStates];
                Cost remainders[kQuantiserStates];
                store(around, sums);
                for (int state = 0; state < kQuantiserStates; ++state)
                    remainders[state] = remainder_of(parity, quantiser_of(state), k, around[state]);
                cost += loaded<Lanes>(remainders);
            }
            return cost;
        };
        const int32_t *even_levels = candidates.limited[0][k], *odd_levels = candidates.limited[1][k];
        const Lanes zero = with_rates(0, 0);
        Lanes even = with_level(0);
        const Lanes odd = after_odd(with_level(1));
        const StateInts nonzero = __builtin_convertvector(even < zero, StateInts);
        even = after_even(even < zero ? even : zero);
        StateInts is_odd = __builtin_convertvector(odd < even, StateInts);
        reached = odd < even ? odd : even;
        const StateBits longer = latest << 2;
        const StateBits even_path =
            longer | (StateBits)(by_quantiser(even_levels) & nonzero);
        const StateBits odd_path = longer | (StateBits)by_quantiser(odd_levels);
        latest = is_odd ? after_odd(odd_path) : after_even(even_path);
        StateInts begins{};
        if (magnitudes.sizes[k] > least) {
            const Cost start = costs.of_last(a, b, k) - costs.nonzero[area][place];
            const auto begun_with = [&](int parity, int level) {
                return Cost(start + candidates.gains[parity][k][0] + first[level][0] +
                            remainder_of(parity, 0, k, 0));
            };
            const Lanes begun{begun_with(0, even_levels[0]), kFar, begun_with(1, odd_levels[0]), kFar,
                              kFar, kFar, kFar, kFar};
            const StateBits begun_paths{PathMagnitudes::begun(k, even_levels[0]), 0,
                                        PathMagnitudes::begun(k, odd_levels[0])};
            begins = __builtin_convertvector(begun < reached, StateInts);
            reached = begun < reached ? begun : reached;
            latest = begins ? begun_paths : latest;
            is_odd = begins ? StateInts{0, 0, -1} : is_odd;
        }
        store(decisions[k], (nonzero & kNonzero) | (is_odd & kOdd) | (begins & kFirst));
        paths.end(k, latest);
    }
    Cost all[kQuantiserStates];
    store(all, reached);
    best = 0;
    for (int state = 1; state < kQuantiserStates; ++state)
        if (all[state] < all[best]) best = state;
    const Cost cost = all[best];
    if (cost >= Costs<Cost>::kMost) best = -1;
    return cost;
}

template <class Cost>
LevelChoice choose_by_states(const Magnitudes& magnitudes, const int16_t* coefficients,
                             const Scan& scan, int a, int b, int family, int32_t step, int weight,
                             const BlockCosts& costs, int16_t* levels) {
    constexpr int kBefore[2][kQuantiserStates] = {{0, 2, 4, 6, 5, 1, 3, 7}, {4, 6, 0, 2, 3, 7, 5, 1}};
    Candidates<Cost> candidates;
    candidates.find(magnitudes, step, weight, costs.finer);
    Decisions decisions[kMaxCoded];
    int state;
    int64_t cost =
        search_states(magnitudes, candidates, scan, a, b, family, step, costs, decisions, state);
    if (state < 0) return {-1, 0, 0};
    for (int k = 0;; ++k) {
        const int32_t* decided = decisions[k];
        const int odd = (decided[state] & kOdd) != 0, place = scan.place[k];
        const bool first = decided[state] & kFirst;
        state = first ? 0 : kBefore[odd][state];
        if (odd || first || decided[state] & kNonzero) {
            const int quantiser = quantiser_of(state);
            const int level = candidates.levels[odd][k][quantiser];
            levels[place] = int16_t(coefficients[place] < 0 ? -level : level);
            cost -= candidates.gains[odd][k][quantiser];
        }
        if (first) return {k, cost, 0};
    }
}

}  // namespace

LevelChoice choose_dependent_levels(const int16_t* coefficients, int a, int b, int family,
                                    int32_t step, int weight, const BlockCosts& costs,
                                    int16_t* levels) {
    const Scan& scan = scan_of(a, b);
    memset(levels, 0, scan.count * sizeof *levels);
    Magnitudes magnitudes;
    magnitudes.end =
        end_above(coefficients, scan.number.data(), scan.count, first_coefficient(step));
    if (!magnitudes.end) return {-1, 0, 0};
    magnitudes.gather(coefficients, scan);
    const auto choose = magnitudes.small_costs(step, weight, costs) ? choose_by_states<int32_t>
                                                                    : choose_by_states<int64_t>;
    return choose(magnitudes, coefficients, scan, a, b, family, step, weight, costs, levels);
}

}  // namespace mmp
