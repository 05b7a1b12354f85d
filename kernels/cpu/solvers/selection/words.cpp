#include "cpu/solvers/selection/words.h"

#include <algorithm>
#include <memory>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

constexpr int64_t kLanes = 32;
constexpr int64_t kBlock = kLanes * 0x7FFF;  // values whose counts fit 16-bit lanes
constexpr int16_t kHighest = 0x7FFF, kInfinite = 0x7C00;

using Lanes = Vector<int16_t, kLanes>::Type;

MMP_INLINE int64_t sum(const Lanes& counts) {
    int64_t total = 0;
    for (int lane = 0; lane < kLanes; ++lane) total += counts[lane];
    return total;
}

// Writes signed integers that sort like the values, padded with `kHighest` to a multiple of kLanes.
// Returns the number of NaN.
MMP_SIMD_LEVELS int64_t to_signed(const uint16_t* values, int64_t count, Kind kind, int16_t* out) {
    int64_t nans = 0;
    for (int64_t begin = 0; begin < count; begin += kBlock) {
        Lanes seen{};
        for (int64_t i = begin; i < std::min(count, begin + kBlock); i += kLanes) {
            Lanes bits = Lanes{} + kHighest;
            if (i + kLanes <= count)
                bits = loaded<Lanes>(values + i);
            else
                memcpy(&bits, values + i, (count - i) * sizeof(int16_t));
            if (kind == Kind::kUnsigned) {
                bits = bits ^ static_cast<int16_t>(-0x8000);
                if (i + kLanes > count)
                    for (int64_t lane = count - i; lane < kLanes; ++lane) bits[lane] = kHighest;
            } else if (kind == Kind::kFloat) {
                const auto nan = (bits & kHighest) > kInfinite;
                bits = bits ^ (bits >> 15 & kHighest);
                bits = nan ? Lanes{} + kHighest : bits;
                seen = nan ? seen + 1 : seen;
            }
            store(out + i, bits);
        }
        nans += sum(seen);
    }
    // The padding lanes look like NaN.
    return kind == Kind::kFloat ? nans - (kLanes - 1 - (count - 1) % kLanes) : 0;
}

// Counts the keys below `bound`, `bound` + `step` and `bound` + 2 * `step`.
MMP_SIMD_LEVELS void count_below(const int16_t* keys, int64_t count, int32_t bound, int32_t step,
                                 int64_t* below) {
    const Lanes low = Lanes{} + static_cast<int16_t>(bound);
    const Lanes middle = Lanes{} + static_cast<int16_t>(bound + step);
    const Lanes high = Lanes{} + static_cast<int16_t>(bound + 2 * step);
    below[0] = below[1] = below[2] = 0;
    for (int64_t begin = 0; begin < count; begin += kBlock) {
        Lanes first{}, second{}, third{};
        for (int64_t i = begin; i < std::min(count, begin + kBlock); i += kLanes) {
            const auto key = loaded<Lanes>(keys + i);
            first = key < low ? first + 1 : first;
            second = key < middle ? second + 1 : second;
            third = key < high ? third + 1 : third;
        }
        below[0] += sum(first);
        below[1] += sum(second);
        below[2] += sum(third);
    }
}

}  // namespace

int64_t select_words(const uint16_t* values, int64_t count, Kind kind,
                     const std::vector<int64_t>& ranks, uint64_t* out) {
    const int64_t room = (count + kLanes - 1) / kLanes * kLanes;
    struct alignas(64) Line {
        int16_t keys[kLanes];
    };
    const std::unique_ptr<Line[]> lines(new Line[room / kLanes]);
    int16_t* const keys = lines[0].keys;
    const int64_t nans = to_signed(values, count, kind, keys);
    for (size_t r = 0; r < ranks.size(); ++r) {
        // The wanted key is the largest number with at most `rank` keys below it.
        int32_t key = -0x8000;
        for (int32_t step = 0x4000; step > 0; step /= 4) {
            int64_t below[3];
            count_below(keys, count, key + step, step, below);
            for (const int64_t each : below) key += each <= ranks[r] ? step : 0;
        }
        out[r] = static_cast<uint64_t>(key + 0x8000);
    }
    return nans;
}

}  // namespace mmp
