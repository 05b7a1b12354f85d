// Adaptive models of predicted blocks and the symbol costs that follow from them. Source: sections
// "Binary models" and "Modes" of docs/format/format.md.
#pragma once

#include "shared/blocks/block.h"
#include "shared/entropy/binary.h"
#include "shared/entropy/rate.h"

namespace mmp {

// Layout of the trained initial states, by class of the quantisation step: for each binary model
// its probability in 1/256 and its number of bits seen, then the frequencies of the modes, then the
// binary models of the second quantiser. A second table holds the models with fine contexts, then
// the models of trained transforms and of ternary splits.
constexpr int kStartClasses = 6;
constexpr int kStartBytes = 2 * kFineZeroModels + kSizes * kModes;
constexpr int kFineBytes = 2 * (kTrainedModels - kFineZeroModels);
constexpr int kTableBytes = kStartBytes + kFineBytes;
MMP_HD constexpr int start_class(int step) {
    return step < 149 ? 0 : step < 278 ? 1 : step < 481 ? 2 : step < 833 ? 3 : step < 1445 ? 4 : 5;
}

constexpr int kFirstFrequency = 3, kFrequencyStep = 20, kMostFrequencies = 4000;

// What a neighbour's angle adds to the factor of an angle: 6 up to distance 1, 3 at distance 2, else
// 0.
MMP_HD constexpr int nearness(int angle, int other) {
    const int distance = angle < other ? other - angle : angle - other;
    return distance < 2 ? 6 : distance == 2 ? 3 : 0;
}
MMP_HD constexpr int mode_factor(int mode, const LikelyModes& near) {
    const int angle = angle_of(mode);
    if (angle < 0) return mode < kFirstAngle ? 4 : 2;
    return 2 + nearness(angle, angle_of(near.left)) + nearness(angle, angle_of(near.above)) +
           nearness(angle, angle_of(near.far_left)) + nearness(angle, angle_of(near.far_above));
}

// The device copies it by words of 32 bits.
struct alignas(uint32_t) BlockModels {
    BitModel bits[kHeldBitModels];
    uint16_t modes[kSizes][kModes];  // frequencies

    MMP_HD void start() {
        for (BitModel& model : bits) model = BitModel{};
        for (auto& size : modes)
            for (uint16_t& frequency : size) frequency = kFirstFrequency;
        const int zero[kSums] = {12, 28, 42, 52, 60, 70}, tenths[kPlaces] = {20, 14, 10, 10};
        const int large[kLargeSums] = {20, 25, 35, 45, 55};
        for (int place = 0; place < kPlaces; ++place) {
            for (int area = 0; area < kAreas; ++area)
                for (int sum = 0; sum < kSums; ++sum)
                    start_at(zero_model(area, place, sum),
                             smaller(90, zero[sum] * tenths[place] / 10));
            for (int area = 0; area < kAreas; area += 2)
                for (int sum = 0; sum < kLargeSums; ++sum) {
                    start_at(one_model(area, place, sum), large[sum]);
                    start_at(two_model(area, place, sum), large[sum] + 10);
                }
        }
        start_second();
        start_fine();
        for (int model = kSkipModels; model < kHeldBitModels; ++model) start_at(model, 12);
    }
    // start(), then loads trained initial states: kStartBytes and kFineBytes bytes. Any byte value
    // is valid.
    MMP_HD void start(const uint8_t* trained, const uint8_t* fine) {
        start();
        for (int model = 0; model < kTrainedModels; ++model) load(model, trained, fine);
        for (int size = 0; size < kSizes; ++size) load_modes(size, trained);
    }
    // Loads the trained initial state of one binary model, and the frequencies of the modes of one
    // size.
    MMP_HD void load(int model, const uint8_t* trained, const uint8_t* fine) {
        const uint8_t* from = trained + 2 * model + (model < kBitModels ? 0 : kSizes * kModes);
        bits[model].start(model < kFineZeroModels ? from : fine + 2 * (model - kFineZeroModels));
    }
    MMP_HD void load_modes(int size, const uint8_t* trained) {
        const uint8_t* from = trained + 2 * kBitModels + size * kModes;
        for (int mode = 0; mode < kModes; ++mode)
            modes[size][mode] = uint16_t(larger(from[mode], 1));
    }
    MMP_HD void count_mode(int size, int mode) {
        modes[size][mode] = uint16_t(modes[size][mode] + kFrequencyStep);
        halve_modes(size);
    }
    // Encoder only: merges what other models have learned. For mode frequencies, takes the larger
    // one.
    MMP_HD void merge(const BlockModels& other) {
        for (int model = 0; model < kHeldBitModels; ++model) bits[model].merge(other.bits[model]);
        for (int size = 0; size < kSizes; ++size) merge_modes(size, other);
    }
    MMP_HD void merge_modes(int size, const BlockModels& other) {
        for (int mode = 0; mode < kModes; ++mode)
            modes[size][mode] = larger(modes[size][mode], other.modes[size][mode]);
        halve_modes(size);
    }
    // Weight of a mode; 0 for likely modes and for modes that are not allowed.
    MMP_HD uint32_t mode_weight(int size, int mode, LikelyModes likely, uint64_t allowed) const {
        if (!(allowed >> mode & 1) || mode == likely.left || mode == likely.above) return 0;
        return modes[size][mode] * mode_factor(mode, likely);
    }

private:
    // Models of the second quantiser start as the first quantiser's.
    MMP_HD void start_second() {
        for (int model = kSecondModels; model < kFineZeroModels; ++model)
            bits[model] = bits[model - kSecondModels + kZeroModels];
    }
    // Models with fine contexts start as the corresponding models without.
    MMP_HD void start_fine() {
        for (int quantiser = 0; quantiser < kQuantisers; ++quantiser)
            for (int frequency = 0; frequency < kFrequencies; ++frequency)
                for (int sum = 0; sum < kSumClasses; ++sum) {
                    const int place = coarse_frequency(frequency);
                    for (int direction = 0; direction < kDirections; ++direction)
                        bits[fine_zero_model(quantiser, direction, frequency, sum)] =
                            bits[zero_model(0, place, sum)];
                    bits[fine_one_model(quantiser, frequency, sum)] = bits[one_model(0, place, sum)];
                    bits[fine_two_model(quantiser, frequency, sum)] = bits[two_model(0, place, sum)];
                }
    }
    MMP_HD void halve_modes(int size) {
        int total = 0;
        for (const int frequency : modes[size]) total += frequency;
        if (total > kMostFrequencies)
            for (uint16_t& frequency : modes[size]) frequency = uint16_t((frequency + 1) >> 1);
    }
    MMP_HD void start_at(int model, int percent) {
        bits[model].one = uint16_t(percent * int(kBitTotal) / 100);
        bits[model].seen = 4;
    }
};

// Cost of bit 0 and of bit 1 in each binary model, in 1/16 squared error.
using BitCosts = int32_t[kHeldBitModels][2];

// Cost of the remainder of a magnitude of at least 3. `value` is the magnitude minus 3, `plain` the
// cost of a bit of probability 1/2, `models` the index of the first model of the remainder.
MMP_HD int64_t remainder_cost_from(const BitCosts& bit, int32_t plain, int models, int value) {
    const int group = floor_log2(value + 1);
    int64_t cost = int64_t{group} * plain;
    for (int k = 0; k <= group; ++k) cost += bit[models + smaller(k, kRemainders - 1)][k < group];
    return cost;
}
MMP_HD int64_t remainder_cost(const BitCosts& bit, int32_t plain, int area, int value) {
    return remainder_cost_from(bit, plain, remainder_models(area), value);
}

// Cost of the scan position of the last coefficient.
MMP_HD int32_t last_cost(const BitCosts& bit, int32_t plain, int a, int b, int last) {
    const int group = floor_log2(last + 1);
    int32_t cost = 0;
    for (int k = 0; k <= group && k < last_groups(a, b); ++k)
        cost += bit[last_model(a, b, k)][k < group];
    if (group > 0) {
        const int top = ((last + 1) >> (group - 1)) & 1;
        cost += bit[last_bit_model(group)][top] + (group - 1) * plain;
    }
    return cost;
}

// Costs of magnitudes 0, 1, 2, and 3 or more, sign included, remainder excluded. `zero`, `one` and
// `two` are the costs of the bits of the models of these names.
MMP_HD void level_costs(const int32_t* zero, const int32_t* one, const int32_t* two, int32_t plain,
                        int32_t* out) {
    out[0] = zero[0];
    out[1] = zero[1] + plain + one[0];
    out[2] = zero[1] + plain + one[1] + two[0];
    out[3] = zero[1] + plain + one[1] + two[1];
}
// level_costs() of one context.
MMP_HD void level_costs(const BitCosts& bit, int32_t plain, int area, int place, int sum,
                        int32_t* out) {
    level_costs(bit[zero_model(area, place, sum)], bit[one_model(area, place, sum)],
                bit[two_model(area, place, sum)], plain, out);
}

}  // namespace mmp
