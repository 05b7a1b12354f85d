// Trellis quantisation of dependent levels: a Viterbi search over the quantiser states, by
// kQuantiserStates lanes of a warp for each block, a lane for a state.
#pragma once

#include "cuda/blocks/levels.cuh"
#include "cuda/device/warp.cuh"

namespace mmp {

// Scan positions whose magnitudes a lane keeps as it goes, two bits each.
constexpr int kTrellisGroup = 8;
// A path that begins with kFar costs more than kMostPath, and reaches no state.
constexpr int64_t kFar = int64_t{1} << 60, kMostPath = kFar / 2;
// Decisions, for the way back. kNonzero, by the state before an even level: this level is not 0.
// kOdd, by the state after it: the level is odd. kBegins, by the state after it: the path begins
// with this level.
constexpr int kNonzero = 1, kOdd = 2, kBegins = 4;

// What the search over a block keeps by scan position and state, in global memory.
struct TrellisRoom {
    alignas(8) uint8_t decisions[kMaxCoded][kQuantiserStates];
    // Magnitudes, clipped to 3, on the path to each state, of the groups before the current one.
    alignas(8) uint8_t older[kMaxCoded + kMostSpan + kTrellisGroup][kQuantiserStates];
};

// The levels of a coefficient that a path may take: for each parity, the nearest one of the
// quantiser of a lane.
struct NearestLevels {
    int level[2];
    int64_t gain[2];  // cost minus the cost of level 0, without the rate; kFar for level 0

    __device__ NearestLevels(int size, int32_t step, uint64_t inverse, int quantiser) {
        const int floor = min(int((size * 2 * inverse) >> 32), kMaxLevel - 2);
        const int upper = 2 * (2 * size - floor * step) >= step;
        const int lower = quantiser ? floor + upper : floor;
        const int64_t dropped = coefficient_error<int64_t>(size);
        for (int parity = 0; parity < 2; ++parity) {
            const int own = parity ? lower | 1 : lower + (lower & 1);
            const int32_t value = min(((2 * own - quantiser) * step + 2) >> 2, kMaxCoefficient);
            level[parity] = own;
            gain[parity] = own ? coefficient_error<int64_t>(value - size) - dropped : kFar;
        }
    }
};

class Trellis {
public:
    // Searches one block of a warp's four, those of one shape. `coefficients` are in scan order;
    // `end` is one more than the last scan position with a coefficient above half a step. All lanes
    // of the warp call each function.
    __device__ Trellis(const BlockTables& tables, const LevelScan& scan,
                       const int16_t* coefficients, int end, int32_t step, const BlockCosts& costs,
                       TrellisRoom& room)
        : order_(tables.order[shape_number(scan.a, scan.b)]),
          span_(tables.spans[shape_number(scan.a, scan.b)]),
          scan_(scan),
          coefficients_(coefficients),
          end_(end),
          step_(step),
          inverse_(inverse_of(step)),
          costs_(costs),
          room_(room),
          state_(threadIdx.x % kQuantiserStates) {}

    // Writes levels that are not 0, in scan order, and the quantisers of all levels to decisions[k][0]
    // of the room.
    __device__ ChosenLevels choose(int16_t* levels) {
        const int first = end_ / kTrellisGroup * kTrellisGroup;
        for (int k = first; k < min(end_ + span_, scan_.count()); ++k) room_.older[k][state_] = 0;
        __syncwarp();
        const int longest = int(__reduce_max_sync(kAllLanes, uint32_t(end_)));
        for (int k = longest - 1; k >= 0; --k) step_back(k);
        int best = state_;
        int64_t cost = reached_;
        for (int apart = 1; apart < kQuantiserStates; apart *= 2) {
            const int64_t other = __shfl_xor_sync(kAllLanes, cost, apart);
            const int its = __shfl_xor_sync(kAllLanes, best, apart);
            if (other < cost || (other == cost && its < best)) cost = other, best = its;
        }
        ChosenLevels chosen{-1, 0};
        if (state_ == 0 && cost < kMostPath) chosen = follow(best, cost, levels);
        chosen.last = __shfl_sync(kAllLanes, chosen.last, 0, kQuantiserStates);
        chosen.cost = __shfl_sync(kAllLanes, chosen.cost, 0, kQuantiserStates);
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

    // Extends all paths by the level at scan position k.
    __device__ void step_back(int k) {
        const bool there = k < end_;
        const ScanPlace at = scan_.at(k);
        const int place = costs_.place_of(at, scan_.columns_log2, scan_.family);
        const int sum = sum_class(around(k, at, there));
        const int size = there ? abs(int(coefficients_[k])) : 0, quantiser = quantiser_of(state_);
        const NearestLevels near(size, step_, inverse_, quantiser);
        const int4 rates = *reinterpret_cast<const int4*>(
            costs_.level[quantiser][scan_.area][place][sum]);
        const int context = costs_.remainder_context(scan_.area, place, sum);
        const auto with_level = [&](int parity) {
            const int level = near.level[parity];
            int64_t cost = reached_ + near.gain[parity] +
                           (level < 1 ? rates.x : level < 2 ? rates.y : level < 3 ? rates.z : rates.w);
            if (level > 2) cost += costs_.of_remainder(context, level - 3);
            return cost;
        };
        const int64_t zero = reached_ + rates.x, with_even = with_level(0), with_odd = with_level(1);
        const bool nonzero = with_even < zero;
        const int of_even = before(state_, 0), of_odd = before(state_, 1);
        const int64_t even = of_state(nonzero ? with_even : zero, of_even);
        const int64_t odd = of_state(with_odd, of_odd);
        bool is_odd = odd < even, begins = false;
        int64_t reached = is_odd ? odd : even;
        const uint32_t longer = latest_ << 2;
        const uint32_t even_path = of_state(longer | (nonzero ? min(near.level[0], 3) : 0), of_even);
        const uint32_t odd_path = of_state(longer | min(near.level[1], 3), of_odd);
        uint32_t latest = is_odd ? odd_path : even_path;
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
                latest = kNowhere << 2 * (recent(k) + 1) | uint32_t(min(level, 3));
            }
        }
        if (there) {
            room_.decisions[k][state_] =
                uint8_t((nonzero ? kNonzero : 0) | (is_odd ? kOdd : 0) | (begins ? kBegins : 0));
            reached_ = reached, latest_ = latest;
        }
        if (k % kTrellisGroup == 0) {
            end_group(k, there);
            __syncwarp();
        }
    }

    // Sum of the magnitudes around scan position k on the path to a state. Above the magnitudes of
    // the group, latest_ holds the state from which the path entered the group, or kNowhere.
    __device__ int around(int k, const ScanPlace& at, bool there) const {
        // Lanes 0 to 4 find a neighbour each: its scan position, or -1.
        constexpr uint32_t kDown = 0x12100, kRight = 0x10021;
        const int rows_log2 = min(scan_.a, kCodedSideLog2), lane = state_;
        int number = -1;
        if (lane < 5 && there) {
            const int i = (at.place >> scan_.columns_log2) + (kDown >> 4 * lane & 15);
            const int j = (at.place & ((1 << scan_.columns_log2) - 1)) + (kRight >> 4 * lane & 15);
            if (i < 1 << rows_log2 && j < 1 << scan_.columns_log2)
                number = __ldg(order_ + (i << scan_.columns_log2) + j);
        }
        const uint32_t from = latest_ >> 2 * recent(k);
        int sum = 0;
        for (int n = 0; n < 5; ++n) {
            const int its = of_state(number, n);
            if (its < 0) continue;
            if (its / kTrellisGroup == k / kTrellisGroup)
                sum += latest_ >> 2 * (its - k - 1) & 3;
            else if (!(from & kNowhere))
                sum += room_.older[its][from & 7];
        }
        return sum;
    }

    // Moves the magnitudes of a group that begins at k to the older ones.
    __device__ void end_group(int k, bool there) {
        const uint32_t from = latest_ >> 2 * kTrellisGroup;
        // Bytes of each older position, by the new states: one half of them in each word.
        uint32_t chosen = (from & 7) << 4 * (state_ % 4);
        uint32_t mask = from & kNowhere ? 0 : 0xFFu << 8 * (state_ % 4);
        for (int apart = 1; apart < 4; apart *= 2) {
            chosen |= __shfl_xor_sync(kAllLanes, chosen, apart);
            mask |= __shfl_xor_sync(kAllLanes, mask, apart);
        }
        const uint32_t choose[2] = {of_state(chosen, 0), of_state(chosen, 4)};
        const uint32_t keep[2] = {of_state(mask, 0), of_state(mask, 4)};
        __syncwarp();
        if (!there) return;
        for (int number = k + kTrellisGroup + state_; number < min(k + span_, end_);
             number += kQuantiserStates) {
            uint32_t* row = reinterpret_cast<uint32_t*>(room_.older[number]);
            const uint32_t low = row[0], high = row[1];
            for (int half = 0; half < 2; ++half)
                row[half] = __byte_perm(low, high, choose[half]) & keep[half];
        }
        for (int i = 0; i < kTrellisGroup; ++i)
            room_.older[k + i][state_] = uint8_t(latest_ >> 2 * i & 3);
        latest_ = state_;
    }

    __device__ static int recent(int k) { return kTrellisGroup - 1 - k % kTrellisGroup; }

    // Writes the levels of the path that ends in a state. One lane calls it.
    __device__ ChosenLevels follow(int state, int64_t cost, int16_t* levels) const {
        for (int k = 0;; ++k) {
            const int decided = room_.decisions[k][state], odd = (decided & kOdd) != 0;
            const bool first = decided & kBegins;
            state = first ? 0 : before(state, odd);
            const int quantiser = quantiser_of(state);
            const bool even_nonzero = !first && !odd && room_.decisions[k][state] & kNonzero;
            if (odd || first || even_nonzero) {
                const int value = coefficients_[k];
                const NearestLevels near(abs(value), step_, inverse_, quantiser);
                levels[k] = int16_t(value < 0 ? -near.level[odd] : near.level[odd]);
                cost -= near.gain[odd];
            }
            room_.decisions[k][0] = uint8_t(quantiser);
            if (first) return {k, cost};
        }
    }

    static constexpr uint32_t kNowhere = 8;

    const uint16_t* const order_;
    const int span_;
    const LevelScan& scan_;
    const int16_t* const coefficients_;
    const int end_;
    const int32_t step_;
    const uint64_t inverse_;
    const BlockCosts& costs_;
    TrellisRoom& room_;
    const int state_;
    int64_t reached_ = kFar;
    uint32_t latest_ = 0;
};

}  // namespace mmp
