#include "cpu/blocks/frequency_weights.h"

#include <array>
#include <memory>
#include <vector>

#include "cpu/runtime/simd.h"
#include "shared/blocks/block.h"
#include "shared/blocks/transform.h"
#include "shared/integers.h"

namespace mmp {

namespace {

constexpr int kPlainBits = 6, kPlain = 1 << kPlainBits;  // weight of frequency 0
constexpr int kInverseBits = 16;
constexpr int kMostStrength = 15;

struct Table {
    std::vector<uint16_t> weights;
    std::vector<uint32_t> inverses;
};

int root(int square) {
    int found = 0;
    while ((found + 1) * (found + 1) <= square) ++found;
    return found;
}

// The tables of all shapes for one strength.
std::array<Table, kShapes> tables_of(int strength) {
    std::array<Table, kShapes> made;
    for (int a = kMinSideLog2; a <= kMaxSideLog2; ++a)
        for (int b = kMinSideLog2; b <= kMaxSideLog2; ++b) {
            Table& table = made[shape_number(a, b)];
            for (int i = 0; i < smaller(1 << a, kCodedSide); ++i)
                for (int j = 0; j < smaller(1 << b, kCodedSide); ++j) {
                    const int u = (i << kPlainBits) >> a, v = (j << kPlainBits) >> b;
                    const int weight = kPlain + ((strength * root(u * u + v * v) + 1) >> 1);
                    table.weights.push_back(uint16_t(weight));
                    table.inverses.push_back(
                        uint32_t(((kPlain << kInverseBits) + weight / 2) / weight));
                }
        }
    return made;
}

}  // namespace

FrequencyWeights frequency_weights(int a, int b, int strength) {
    static const auto tables = [] {
        auto made = std::make_unique<std::array<std::array<Table, kShapes>, kMostStrength>>();
        for (int each = 1; each <= kMostStrength; ++each) (*made)[each - 1] = tables_of(each);
        return made;
    }();
    const Table& table = (*tables)[strength - 1][shape_number(a, b)];
    const int count = int(table.weights.size());
    return {table.weights.data(), table.inverses.data(), count, table.weights.back(),
            count == 1 << (a + b)};
}

MMP_SIMD_LEVELS void unweight(int16_t* coefficients, int a, int b, int strength) {
    const FrequencyWeights own = frequency_weights(a, b, strength);
    for (int i = 0; i < own.count; ++i) {
        const int32_t value = coefficients[i], size = value < 0 ? -value : value;
        const int32_t whole =
            smaller((size * own.weights[i] + kPlain / 2) >> kPlainBits, kMaxCoefficient);
        coefficients[i] = int16_t(value < 0 ? -whole : whole);
    }
}

MMP_SIMD_LEVELS WeightedErrors weight(int16_t* coefficients, int a, int b, int strength,
                                      int64_t energy) {
    const FrequencyWeights own = frequency_weights(a, b, strength);
    WeightedErrors errors;
    if (!own.all) {
        int64_t coded = 0;
        for (int i = 0; i < own.count; ++i) coded += int32_t{coefficients[i]} * coefficients[i];
        const int64_t left = energy > coded ? energy - coded : 0;
        errors.rest = left * kPlain * kPlain / (own.last * own.last);
    }
    int64_t coded = 0;
    for (int i = 0; i < own.count; ++i) {
        const int32_t value = coefficients[i];
        const uint32_t size = uint32_t(value < 0 ? -value : value);
        const auto part =
            int32_t((size * own.inverses[i] + (1u << kInverseBits >> 1)) >> kInverseBits);
        coefficients[i] = int16_t(value < 0 ? -part : part);
        coded += int64_t{part} * part;
    }
    errors.all = coded + errors.rest;
    return errors;
}

MMP_SIMD_LEVELS int64_t squared_error(const int16_t* coefficients, const int16_t* found, int count) {
    int64_t sum = 0;
    for (int i = 0; i < count; ++i) {
        const int64_t difference = coefficients[i] - found[i];
        sum += difference * difference;
    }
    return sum;
}

}  // namespace mmp
