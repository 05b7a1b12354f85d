#include "block_models.h"

#include <algorithm>

namespace mmp {

namespace {

constexpr int kLeastProbability = 192;
constexpr int kSlowest = 64;
constexpr int kFirstFrequency = 3, kFrequencyStep = 20, kMostFrequencies = 4000;

int magnitude_bits(int value) { return 31 - __builtin_clz(value); }

// A mode is likelier where its angle is close to that of a neighbour.
int angle_factor(int mode, int left, int above) {
    const int angle = angle_of(mode);
    int factor = 2;
    if (angle >= 0)
        for (const int other : {angle_of(left), angle_of(above)}) {
            const int distance = std::abs(angle - other);
            factor += distance == 1 ? 6 : distance == 2 ? 3 : 0;
        }
    return factor;
}

}  // namespace

void BitModel::count(int bit) {
    const int target = bit ? int(kBitTotal) : 0;
    const int reach = (1 << 17) / (2 * seen + 3);  // 1 / (seen + 3/2), in 1/65536
    const int next = one + (((target - one) * int64_t{reach}) >> 16);
    one = uint16_t(std::clamp(next, kLeastProbability, int(kBitTotal) - kLeastProbability));
    if (seen < kSlowest) ++seen;
}

BlockModels::BlockModels() {
    for (auto& size : modes) size.fill(kFirstFrequency);
    const auto start = [&](int model, int percent) {
        bits[model] = {uint16_t(percent * kBitTotal / 100), 4};
    };
    static constexpr int kZero[kSums] = {12, 28, 42, 52, 60, 70};
    static constexpr int kLarge[kLargeSums] = {20, 25, 35, 45, 55};
    for (int area = 0; area < kAreas; ++area)
        for (int place = 0; place < kPlaces; ++place)
            for (int sum = 0; sum < kSums; ++sum) {
                const int tenths = place == 0 ? 20 : place == 1 ? 14 : 10;
                start(zero_model(area, place, sum), std::min(90, kZero[sum] * tenths / 10));
            }
    for (int area = 0; area < kAreas; area += 2)
        for (int place = 0; place < kPlaces; ++place)
            for (int sum = 0; sum < kLargeSums; ++sum) {
                start(one_model(area, place, sum), kLarge[sum]);
                start(two_model(area, place, sum), kLarge[sum] + 10);
            }
}

void BlockModels::count_mode(int size, int mode) {
    auto& frequency = modes[size];
    frequency[mode] = uint16_t(frequency[mode] + kFrequencyStep);
    int total = 0;
    for (const int f : frequency) total += f;
    if (total > kMostFrequencies)
        for (auto& f : frequency) f = uint16_t((f + 1) >> 1);
}

uint32_t BlockModels::weigh_modes(int size, int left, int above, uint64_t allowed,
                                  uint32_t* weights) const {
    uint32_t total = 0;
    for (int mode = 0; mode < kModes; ++mode) {
        const bool possible = (allowed >> mode & 1) && mode != left && mode != above;
        weights[mode] = possible ? modes[size][mode] * angle_factor(mode, left, above) : 0;
        total += weights[mode];
    }
    return total;
}

void BlockCosts::refresh(const BlockModels& models, int64_t lambda) {
    lambda_fixed = lambda;
    const RateTable& rates = RateTable::get();
    plain = of_rate(1 << kRateFractionBits);
    for (int m = 0; m < kBitModels; ++m) {
        const uint32_t one = models.bits[m].one;
        bit[m][0] = of_rate(rates[kBitTotal] - rates[kBitTotal - one]);
        bit[m][1] = of_rate(rates[kBitTotal] - rates[one]);
    }
    for (int area = 0; area < kAreas; ++area)
        for (int place = 0; place < kPlaces; ++place)
            for (int sum = 0; sum < kSums; ++sum) {
                const auto& zero = bit[zero_model(area, place, sum)];
                const auto& one = bit[one_model(area, place, sum)];
                const auto& two = bit[two_model(area, place, sum)];
                int32_t* out = level[area][place][sum];
                out[0] = zero[0];
                out[1] = zero[1] + plain + one[0];
                out[2] = zero[1] + plain + one[1] + two[0];
                out[3] = zero[1] + plain + one[1] + two[1];
            }
    for (int large = 0; large < 2; ++large)
        for (int value = 0; value < kRemainderTable; ++value)
            remainder_[large][value] = sum_remainder(2 * large, value);
}

int64_t BlockCosts::sum_remainder(int area, int value) const {
    const int group = magnitude_bits(value + 1);
    int64_t cost = int64_t{group} * plain;
    for (int k = 0; k <= group; ++k) cost += bit[remainder_model(area, k)][k < group];
    return cost;
}

int32_t BlockCosts::of_last(int a, int b, int last) const {
    const int group = magnitude_bits(last + 1);
    int32_t cost = 0;
    for (int k = 0; k <= group && k < last_groups(a, b); ++k)
        cost += bit[last_model(a, b, k)][k < group];
    if (group > 0) {
        const int top = ((last + 1) >> (group - 1)) & 1;
        cost += bit[last_bit_model(group)][top] + (group - 1) * plain;
    }
    return cost;
}

void BlockCosts::of_modes(const BlockModels& models, int size, int left, int above,
                          uint64_t allowed, int32_t* costs) const {
    uint32_t weights[kModes];
    const uint32_t total = models.weigh_modes(size, left, above, allowed, weights);
    const RateTable& rates = RateTable::get();
    const auto* likely = &bit[likely_model(size, 0)];
    const int32_t rest = left == above ? likely[1][0] : likely[0][0] + likely[2][0];
    for (int mode = 0; mode < kModes; ++mode)
        costs[mode] = weights[mode] ? rest + of_rate(rates[total] - rates[weights[mode]]) : -1;
    if (allowed >> left & 1) costs[left] = likely[left == above][1];
    if (left != above && (allowed >> above & 1)) costs[above] = likely[0][0] + likely[2][1];
}

}  // namespace mmp
