#include "block_trial.h"

#include <algorithm>

namespace mmp {

int32_t root_of(int64_t lambda_fixed) {
    int32_t root = 0;
    for (int32_t bit = 1 << 18; bit; bit >>= 1)
        if (int64_t{root + bit} * (root + bit) <= lambda_fixed) root += bit;
    return std::max(root, 1);
}

void take_block(const uint8_t* plane, int width, const BlockPlace& block, uint8_t* out) {
    for (int i = 0; i < block.height(); ++i)
        std::copy_n(plane + size_t(block.row + i) * width + block.column, block.width(),
                    out + i * block.width());
}

void Trial::try_bare(const BlockPlace& block, const uint8_t* source, const uint8_t* prediction,
                     int mode, int64_t total) {
    const int area = block.height() * block.width();
    total += squared_difference(source, prediction, area) << kCostFractionBits;
    if (total >= cost) return;
    cost = total;
    node = {kWhole, uint8_t(mode), kBare, 0, 0, 0};
    std::copy_n(prediction, area, samples);
}

void Trial::try_residual(const BlockPlace& block, const uint8_t* source,
                         const uint8_t* prediction, int mode, int64_t given, int32_t step,
                         const BlockCosts& costs) {
    if (given >= cost) return;
    const int a = block.a, b = block.b, area = block.height() * block.width();
    int16_t residual[kMaxBlockArea], coefficients[kMaxCoded], tried[kMaxCoded];
    uint8_t rebuilt[kMaxBlockArea];
    subtract(source, prediction, area, residual);
    const bool types = sine_allowed(a, b);
    for (int type = kCosine; type <= (types ? kSine : kCosine); ++type) {
        transform_forward(residual, a, b, type, coefficients);
        const int last = choose_levels(coefficients, a, b, step, costs, tried);
        if (last < 0) continue;
        int64_t total = given + cost_of_levels(tried, a, b, last, costs);
        if (types) total += costs.bit[type_model(a, b, family_of(mode))][type];
        if (total >= cost) continue;
        rebuild(block, type, tried, step, prediction, rebuilt);
        total += squared_difference(source, rebuilt, area) << kCostFractionBits;
        if (total >= cost) continue;
        cost = total;
        node = {kWhole, uint8_t(mode), kTransformed, uint8_t(type), 0, 0};
        std::copy_n(rebuilt, area, samples);
        std::copy_n(tried, scan_of(a, b).count, levels);
    }
}

int64_t rough_cost(const BlockPlace& block, const uint8_t* source, const uint8_t* prediction,
                   int32_t step, const BlockCosts& costs) {
    const int a = block.a, b = block.b, area = block.height() * block.width();
    const int32_t* kind_costs = costs.bit[kind_model(a, b, 1)];
    int16_t residual[kMaxBlockArea], coefficients[kMaxCoded], levels[kMaxCoded];
    subtract(source, prediction, area, residual);
    int64_t energy = 0;
    for (int i = 0; i < area; ++i) energy += residual[i] * residual[i];
    const int64_t bare = kind_costs[kBare] + (energy << kCostFractionBits);
    transform_forward(residual, a, b, kCosine, coefficients);
    const int last = choose_levels(coefficients, a, b, step, costs, levels);
    if (last < 0) return bare;
    int64_t kept = 0;  // energy that the levels take away, in 1/64
    for (int i = 0; i < scan_of(a, b).count; ++i) {
        const int64_t rest = coefficients[i] - dequantised(levels[i], step);
        kept += int64_t{coefficients[i]} * coefficients[i] - rest * rest;
    }
    // The basis is not quite orthonormal, so more may seem taken away than there was.
    const int64_t left = std::max<int64_t>(0, (energy << kCostFractionBits) - (kept >> 2));
    return std::min(
        bare, kind_costs[kTransformed] + cost_of_levels(levels, a, b, last, costs) + left);
}

}  // namespace mmp
