#include "cpu/blocks/quantisation_matrix.h"

#include <array>
#include <vector>

#include "cpu/runtime/simd.h"
#include "shared/blocks/block.h"
#include "shared/blocks/quantisation_matrix.h"

namespace mmp {

namespace {

// Weights of the coefficients of a block shape, in 1/64, and their reciprocals, in 1/65536.
struct Table {
    std::vector<uint16_t> weights;
    std::vector<uint32_t> inverses;
};
using TablesOfShapes = std::array<Table, kShapes>;

// floor(sqrt(u^2 + v^2)) by u and v.
struct Radii {
    uint8_t of[kFlat][kFlat];

    Radii() {
        for (int u = 0; u < kFlat; ++u)
            for (int v = 0, root = u; v < kFlat; ++v) {
                while ((root + 1) * (root + 1) <= u * u + v * v) ++root;
                of[u][v] = uint8_t(root);
            }
    }
};

TablesOfShapes tables_of(int strength, const Radii& radii) {
    TablesOfShapes made;
    for (int a = kMinSideLog2; a <= kMaxSideLog2; ++a)
        for (int b = kMinSideLog2; b <= kMaxSideLog2; ++b) {
            Table& table = made[shape_number(a, b)];
            for (int i = 0; i < smaller(1 << a, kCodedSide); ++i)
                for (int j = 0; j < smaller(1 << b, kCodedSide); ++j) {
                    const int radius = radii.of[(i << kFlatBits) >> a][(j << kFlatBits) >> b];
                    const int weight = frequency_weight(strength, radius);
                    table.weights.push_back(uint16_t(weight));
                    table.inverses.push_back(inverse_weight(weight));
                }
        }
    return made;
}

const Table& table_of(int a, int b, int strength) {
    // Never freed: daemon threads may still read it while the process exits.
    static const auto& tables = *[] {
        const Radii radii;
        auto* made = new std::vector<TablesOfShapes>;
        for (int each = 1; each <= kMostStrength; ++each) made->push_back(tables_of(each, radii));
        return made;
    }();
    return tables[strength - 1][shape_number(a, b)];
}

}  // namespace

MMP_SIMD_LEVELS void unweight(int16_t* coefficients, int a, int b, int strength) {
    const Table& table = table_of(a, b, strength);
    const uint16_t* weights = table.weights.data();
    const int count = int(table.weights.size());
    for (int i = 0; i < count; ++i) {
        const int32_t value = coefficients[i], size = value < 0 ? -value : value;
        const int32_t whole = multiplied(size, weights[i]);
        coefficients[i] = int16_t(value < 0 ? -whole : whole);
    }
}

MMP_SIMD_LEVELS WeightedErrors weight(int16_t* coefficients, int a, int b, int strength,
                                      int64_t energy) {
    const Table& table = table_of(a, b, strength);
    const uint32_t* inverses = table.inverses.data();
    const int count = int(table.weights.size());
    WeightedErrors errors;
    if (count < 1 << (a + b)) {
        int64_t coded = 0;
        for (int i = 0; i < count; ++i) coded += int32_t{coefficients[i]} * coefficients[i];
        errors.rest = uncoded_error(energy, coded, table.weights.back());
    }
    int64_t coded = 0;
    for (int i = 0; i < count; ++i) {
        const int32_t value = coefficients[i];
        const uint32_t size = uint32_t(value < 0 ? -value : value);
        const int32_t part = divided(size, inverses[i]);
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
