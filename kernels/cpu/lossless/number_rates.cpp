#include "cpu/lossless/number_rates.h"

#include <algorithm>
#include <array>

#include "cpu/entropy/rates.h"

namespace mmp {

namespace {

constexpr int kContexts = 3;
constexpr int kPlaceBits = 16;
constexpr int kMostTrust = 16;
constexpr int kProbabilityBits = 16, kAdaptationShift = 5;
constexpr int kAbove = 2, kBeside = 2;  // rows above and columns beside a pixel that are looked at
constexpr uint64_t kMultipliers[] = {
    0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5,
    0xD6E8FEB86659FD93, 0x94D049BB133111EB, 0xBF58476D1CE4E5B9, 0x8EBC6AF09C88C6E3,
    0x589965CC75374CC3, 0x1D8E4E27C47D124F};

// The last number that followed some numbers around a pixel, and how far it is trusted. No number
// followed where `number` is 0; others are larger by 1.
struct Follower {
    uint16_t number = 0, trust = 0;

    void update(uint32_t seen) {
        if (number == seen)
            trust = std::min(trust + 1, kMostTrust);
        else if (trust > 1)
            trust /= 2;
        else
            number = seen, trust = 0;
    }
};

// Numbers that no follower gave, by the number before them.
class Others {
public:
    explicit Others(int count)
        : count_(count), of_all_(count, 1), total_(count), pairs_(size_t(count) * count),
          totals_(count), different_(count) {}

    int64_t rate_of(uint32_t before, uint32_t number) {
        uint32_t& pair = pairs_[size_t(before) * count_ + number];
        uint32_t& total = totals_[before];
        uint32_t& different = different_[before];
        int64_t rate = 0;
        if (total) rate += log2_rate(total + different) - log2_rate(pair ? pair : different);
        if (!pair) rate += log2_rate(total_) - log2_rate(of_all_[number]), ++different;
        ++pair, ++total, ++of_all_[number], ++total_;
        return rate;
    }

private:
    size_t count_;
    std::vector<uint32_t> of_all_;
    uint32_t total_;
    std::vector<uint32_t> pairs_, totals_, different_;
};

}  // namespace

std::vector<int64_t> number_rates(const uint16_t* numbers, int height, int width, int count) {
    const RateTable& rates = RateTable::get();
    constexpr uint32_t one = 1 << kRateFractionBits;
    const int columns = cells_along(width), stride = width + 2 * kBeside;
    std::vector<int64_t> cells(size_t(cells_along(height)) * columns);
    std::vector<uint16_t> framed(size_t(height + kAbove) * stride);
    for (int row = 0; row < height; ++row)
        std::copy_n(numbers + size_t(row) * width, width,
                    framed.data() + size_t(row + kAbove) * stride + kBeside);
    std::array<std::vector<Follower>, kContexts> followers;
    for (auto& each : followers) each.resize(size_t{1} << kPlaceBits);
    std::array<uint16_t, kContexts * (kMostTrust + 1) * kContexts * kContexts> given;
    given.fill(1 << (kProbabilityBits - 1));
    Others others(count);

    for (int row = 0; row < height; ++row) {
        const uint16_t* own = framed.data() + size_t(row + kAbove) * stride + kBeside;
        const uint16_t *above = own - stride, *higher = above - stride;
        int64_t* of_cells = cells.data() + size_t(row / kCellSide) * columns;
        for (int x = 0; x < width; ++x) {
            const uint16_t around[] = {own[x - 1],   above[x],     above[x - 1],  above[x + 1],
                                       own[x - 2],   higher[x],    above[x + 2],  above[x - 2],
                                       higher[x + 1], higher[x - 1]};
            const auto part = [&](int first, int end) {
                uint64_t sum = 0;
                for (int i = first; i < end; ++i) sum += around[i] * kMultipliers[i];
                return sum;
            };
            const auto place = [](uint64_t sum) {
                return (sum ^ sum >> 29) * kMultipliers[0] >> (64 - kPlaceBits);
            };
            const uint64_t two = part(0, 2), six = two + part(2, 6), ten = six + part(6, 10);
            Follower* const seen[kContexts] = {&followers[0][place(ten)], &followers[1][place(six)],
                                               &followers[2][place(two)]};
            const uint32_t number = own[x] + 1u;
            int64_t rate = 0;
            bool found = false;
            for (int i = 0, tried = 0; i < kContexts && !found; ++i) {
                const uint32_t offered = seen[i]->number;
                bool again = !offered;
                for (int j = 0; j < i; ++j) again |= seen[j]->number == offered;
                if (again) continue;
                int agree = 0;
                for (int j = i + 1; j < kContexts; ++j) agree += seen[j]->number == offered;
                const int model = (i * (kMostTrust + 1) + seen[i]->trust) * kContexts + agree;
                uint16_t& chance = given[size_t(model) * kContexts + tried++];
                const uint32_t share = std::clamp<uint32_t>(
                    chance >> (kProbabilityBits - kRateFractionBits), 1, one - 1);
                found = offered == number;
                rate += rates[one] - rates[found ? share : one - share];
                if (found)
                    chance += ((1 << kProbabilityBits) - 1 - chance) >> kAdaptationShift;
                else
                    chance -= chance >> kAdaptationShift;
            }
            if (!found) rate += others.rate_of(own[x - 1], own[x]);
            for (Follower* each : seen) each->update(number);
            of_cells[x / kCellSide] += rate;
        }
    }
    return cells;
}

}  // namespace mmp
