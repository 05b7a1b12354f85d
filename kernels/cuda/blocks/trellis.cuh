// Trellis quantisation of dependent levels: a Viterbi search over the quantiser states, by
// kQuantiserStates lanes of a warp for each block, a lane for a state.
#pragma once

#include "cuda/blocks/levels.cuh"
#include "cuda/device/warp.cuh"

namespace mmp {

// A path that begins with kFar costs more than kMostPath, and reaches no state.
constexpr int64_t kFar = int64_t{1} << 60, kMostPath = kFar / 2;

// Decisions at a scan position, for the way back, a byte for each kind with a bit for each state:
// the even level after this state is not 0; the level before this state is odd; the path to this
// state begins with this level. The way back adds the quantiser of the level.
struct TrellisRoom {
    static constexpr int kOdd = 8, kBegins = 16, kQuantiser = 24;

    uint32_t decisions[kMaxCoded];
};

// The magnitudes of the levels on a path, clipped to 3, two bits each, the latest one first: as many
// as lie between a level and those around it.
struct PathMagnitudes {
    static constexpr int kWords = kMostSpan / 16;

    uint32_t words[kWords];

    // The magnitude of the level that was added `distance` levels ago.
    __device__ int at(int distance) const {
        uint32_t word = words[0];
        for (int n = 1; n < kWords; ++n)
            if (distance > 16 * n) word = words[n];
        return int(word >> 2 * ((distance - 1) & 15) & 3);
    }
    __device__ void add(uint32_t magnitude) {
        for (int n = kWords - 1; n > 0; --n) words[n] = words[n] << 2 | words[n - 1] >> 30;
        words[0] = words[0] << 2 | magnitude;
    }
};

// The levels of a coefficient that a path may take: for each parity, the nearest one of the
// quantiser of a lane.
struct NearestLevels {
    int level[2];
    int64_t gain[2];  // cost minus the cost of level 0, without the rate; kFar for level 0

    // `weight` is that of errors in the block.
    __device__ NearestLevels(int size, int32_t step, uint64_t inverse, int quantiser, int weight,
                             int finer) {
        const int floor = min(int((size * 2 * inverse) >> 32), kMaxLevel - 2);
        const int upper = 2 * (2 * size - floor * step) >= step;
        const int lower = quantiser ? floor + upper : floor;
        const int64_t dropped = coefficient_error<int64_t>(size, finer);
        for (int parity = 0; parity < 2; ++parity) {
            const int own = parity ? lower | 1 : lower + (lower & 1);
            const int32_t value = min(((2 * own - quantiser) * step + 2) >> 2, kMaxCoefficient);
            level[parity] = own;
            const int64_t saved = coefficient_error<int64_t>(value - size, finer) - dropped;
            gain[parity] = own ? weighed(saved, weight) : kFar;
        }
    }
};

class Trellis {
public:
    // Searches one block of a warp's four, those of one shape. `coefficients` are in scan order;
    // `end` is one more than the last scan position with a coefficient above half a step. All lanes
    // of the warp call each function.
    __device__ Trellis(const BlockTables& tables, const LevelScan& scan,
                       const int16_t* coefficients, int end, int32_t step, int weight,
                       const BlockCosts& costs, TrellisRoom& room)
        : places_(tables.trellis[shape_number(scan.a, scan.b)]),
          scan_(scan),
          family_(scan.family == kAcross ? 1 : scan.family == kDown ? 2 : 0),
          coefficients_(coefficients),
          end_(end),
          step_(step),
          inverse_(inverse_of(step)),
          weight_(weight),
          finer_(kDeep ? costs.finer : 0),
          costs_(costs),
          room_(room),
          state_(threadIdx.x % kQuantiserStates) {}

    // Writes levels that are not 0, in scan order, and the quantisers of all levels to the room.
    __device__ ChosenLevels choose(int16_t* levels) {
        const int longest = int(__reduce_max_sync(kAllLanes, uint32_t(end_)));
        TrellisPlace next = load(longest - 1);
        int next_value = value_at(longest - 1);
        for (int k = longest - 1; k >= 0; --k) {
            const TrellisPlace place = next;
            const int value = next_value;
            // Loaded while this level is searched.
            next = load(k - 1);
            next_value = value_at(k - 1);
            step_back(k, place, abs(value));
        }
        int best = state_;
        int64_t cost = reached_;
        for (int apart = 1; apart < kQuantiserStates; apart *= 2) {
            const int64_t other = __shfl_xor_sync(kAllLanes, cost, apart);
            const int its = __shfl_xor_sync(kAllLanes, best, apart);
            if (other < cost || (other == cost && its < best)) cost = other, best = its;
        }
        __syncwarp();
        ChosenLevels chosen{-1, 0};
        if (state_ == 0 && cost < kMostPath) chosen = follow(best, cost, levels);
        chosen.last = of_state(chosen.last, 0);
        chosen.cost = of_state(chosen.cost, 0);
        return chosen;
    }

private:
    // The state before an even, or an odd, level, as digits by the state after it.
    static constexpr uint32_t kBeforeEven = 0x73156420, kBeforeOdd = 0x15732064;
    __device__ static int before(int state, int odd) {
        return (odd ? kBeforeOdd : kBeforeEven) >> 4 * state & 7;
    }
    // The value of the lane of a state of the same block.
    template <class T>
    __device__ static T of_state(T value, int state) {
        return __shfl_sync(kAllLanes, value, state, kQuantiserStates);
    }

    __device__ TrellisPlace load(int k) const {
        const uint4 words = __ldg(reinterpret_cast<const uint4*>(places_ + max(k, 0)));
        return {words.x, words.y, words.z, words.w};
    }
    __device__ int value_at(int k) const { return k >= 0 && k < end_ ? coefficients_[k] : 0; }

    // Sum of the magnitudes around a level on the path to a state.
    __device__ int around(const TrellisPlace& place) const {
        int sum = 0;
        for (int n = 0; n < 4; ++n)
            if (const int distance = place.distances >> 8 * n & 255) sum += path_.at(distance);
        if (place.distance) sum += path_.at(int(place.distance));
        return sum;
    }

    // Extends all paths by the level at scan position k.
    __device__ void step_back(int k, const TrellisPlace& at, int size) {
        const bool there = k < end_;
        const int place = int((costs_.fine ? at.fine >> 8 * family_ : at.coarse) & 255);
        const int sum = sum_class(around(at)), quantiser = quantiser_of(state_);
        const NearestLevels near(size, step_, inverse_, quantiser, weight_, finer_);
        const int4 rates = *reinterpret_cast<const int4*>(
            costs_.level[quantiser][scan_.area][place][sum]);
        const auto with_level = [&](int parity) {
            const int level = near.level[parity];
            int64_t cost = reached_ + near.gain[parity] +
                           (level < 1 ? rates.x : level < 2 ? rates.y : level < 3 ? rates.z : rates.w);
            if (level > 2)
                cost += costs_.of_remainder(costs_.remainder_context(scan_.area, place, sum), level - 3);
            return cost;
        };
        const int64_t zero = reached_ + rates.x, with_even = with_level(0), with_odd = with_level(1);
        const bool nonzero = with_even < zero;
        const int64_t even = of_state(nonzero ? with_even : zero, before(state_, 0));
        const int64_t odd = of_state(with_odd, before(state_, 1));
        bool is_odd = odd < even, begins = false;
        int64_t reached = is_odd ? odd : even;
        const int from = before(state_, is_odd);
        const uint32_t own = uint32_t(nonzero ? min(near.level[0], 3) : 0) |
                             uint32_t(min(near.level[1], 3)) << 2;
        PathMagnitudes path;
        for (int n = 0; n < PathMagnitudes::kWords; ++n) path.words[n] = of_state(path_.words[n], from);
        path.add(of_state(own, from) >> (is_odd ? 2 : 0) & 3);
        // A path may begin with the first quantiser, whose lanes 0 and 2 are the states after an
        // even and after an odd level.
        if ((state_ == 0 || state_ == 2) && size > first_coefficient(step_)) {
            const int parity = state_ / 2, level = near.level[parity];
            int64_t begun = costs_.of_last(scan_.a, scan_.b, k) - costs_.nonzero[scan_.area][place] +
                            near.gain[parity] + costs_.level[0][scan_.area][place][0][min(level, 3)];
            if (level > 2)
                begun += costs_.of_remainder(costs_.remainder_context(scan_.area, place, 0), level - 3);
            if (begun < reached) {
                begins = true, is_odd = parity, reached = begun;
                path = {};
                path.words[0] = uint32_t(min(level, 3));
            }
        }
        const uint32_t nonzeros = __ballot_sync(kAllLanes, nonzero);
        const uint32_t odds = __ballot_sync(kAllLanes, is_odd);
        const uint32_t beginnings = __ballot_sync(kAllLanes, begins);
        if (!there) return;
        const int shift = threadIdx.x % 32 / kQuantiserStates * kQuantiserStates;
        if (state_ == 0)
            room_.decisions[k] = (nonzeros >> shift & 255) |
                                 (odds >> shift & 255) << TrellisRoom::kOdd |
                                 (beginnings >> shift & 255) << TrellisRoom::kBegins;
        reached_ = reached, path_ = path;
    }

    // Writes the levels of the path that ends in a state. One lane calls it.
    __device__ ChosenLevels follow(int state, int64_t cost, int16_t* levels) const {
        uint32_t next = room_.decisions[0];
        for (int k = 0;; ++k) {
            const uint32_t decided = next;
            next = room_.decisions[min(k + 1, end_ - 1)];
            const int odd = int(decided >> (TrellisRoom::kOdd + state) & 1);
            const bool first = decided >> (TrellisRoom::kBegins + state) & 1;
            state = first ? 0 : before(state, odd);
            const int quantiser = quantiser_of(state);
            if (odd || first || (decided >> state & 1)) {
                const int value = coefficients_[k];
                const NearestLevels near(abs(value), step_, inverse_, quantiser, weight_, finer_);
                levels[k] = int16_t(value < 0 ? -near.level[odd] : near.level[odd]);
                cost -= near.gain[odd];
            }
            room_.decisions[k] = uint32_t(quantiser) << TrellisRoom::kQuantiser;
            if (first) return {k, cost};
        }
    }

    const TrellisPlace* const places_;
    const LevelScan& scan_;
    const int family_;
    const int16_t* const coefficients_;
    const int end_;
    const int32_t step_;
    const uint64_t inverse_;
    const int weight_, finer_;
    const BlockCosts& costs_;
    TrellisRoom& room_;
    const int state_;
    int64_t reached_ = kFar;
    PathMagnitudes path_{};
};

}  // namespace mmp
