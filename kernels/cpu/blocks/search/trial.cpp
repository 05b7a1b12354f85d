#include "cpu/blocks/search/trial.h"

#include <algorithm>

#include "cpu/blocks/trained_transforms.h"

namespace mmp {

int64_t estimated_cost(const int16_t* coefficients, int a, int b, int32_t step, int64_t energy,
                       int weight, const BlockCosts& costs) {
    const LevelEstimate estimate = estimate_levels(coefficients, a, b, step, costs.plain);
    return residual_cost(estimate.cost, energy, weighed(estimate.kept << 2 * costs.finer, weight));
}

template <class Sample>
void take_block(const Sample* plane, int width, const BlockPlace& block, Sample* out) {
    for (int i = 0; i < block.height(); ++i)
        std::copy_n(plane + size_t(block.row + i) * width + block.column, block.width(),
                    out + i * block.width());
}

template <class Sample>
void Trial<Sample>::try_bare(const BlockPlace& block, const Sample* prediction, int mode,
                             int64_t total, int64_t energy) {
    total += energy;
    if (total >= cost) return;
    cost = total;
    node = {kLeaf, uint8_t(mode), kBare, 0, 0, 0};
    std::copy_n(prediction, block.area(), samples);
}

// Energy of a residual in 1/64 squared error of 8-bit samples, from its sum of squares.
template <class Sample>
int64_t energy_of(int64_t squares, Depth<Sample> depth) {
    return squares << 2 * kCoefficientBits >> 2 * depth.extra();
}

template <class Sample>
WeightedErrors transform_residual(const BlockPlace& block, const Sample* source,
                                  const Sample* prediction, int64_t squares, int mode,
                                  const BlockTools& tools, Depth<Sample> depth,
                                  int16_t (*coefficients)[kMaxCoded]) {
    const int a = block.a, b = block.b;
    WeightedErrors errors;
    int16_t residual[kMaxBlockArea];
    subtract(source, prediction, block.area(), depth, residual);
    for (const int type : {kSine, kCosine}) {
        if (!type_allowed(tools, a, b, type)) continue;
        transform_forward(residual, a, b, bases_of(block, type, tools), seen_bits(depth),
                          coefficients[type]);
        if (tools.quantisation_matrix)
            errors = weight(coefficients[type], a, b, tools.quantisation_matrix,
                            energy_of(squares, depth));
    }
    if (type_allowed(tools, a, b, kTransformSkip))
        skip_forward(residual, a, b, seen_bits(depth), coefficients[kTransformSkip]);
    if (!type_allowed(tools, a, b, kTrained)) return errors;
    std::copy_n(coefficients[kCosine], scan_of(a, b).count, coefficients[kTrained]);
    trained_forward(coefficients[kTrained], a, b, mode);
    return errors;
}

template <class Sample>
void Trial<Sample>::try_residual(const BlockPlace& block, const Sample* source,
                                 const Sample* prediction, const int16_t* coefficients,
                                 int64_t rest, int weight, int mode, int type, int64_t given,
                                 const BlockTools& tools, Depth<Sample> depth,
                                 const BlockCosts& costs) {
    const int a = block.a, b = block.b, area = block.area();
    int16_t tried[kMaxCoded];
    const int family = family_of(mode);
    const LevelChoice choice =
        tools.dependent
            ? choose_dependent_levels(coefficients, a, b, family, tools.step, weight, costs, tried)
            : choose_levels<LevelCost<Sample>>(coefficients, a, b, family, tools.step, costs, tried);
    if (choice.last < 0) return;
    int64_t total = given + choice.cost + type_cost(tools, costs.bit, a, b, family, type);
    if (total >= cost) return;
    int16_t found[kMaxCoded];
    dequantise(tried, a, b, tools, found);
    if (tools.quantisation_matrix) {
        const int64_t error = rest + squared_error(coefficients, found, scan_of(a, b).count);
        total += weighed(costs.of_coefficients(error), weight);
        if (total >= cost) return;
    }
    Sample rebuilt[kMaxBlockArea];
    rebuild(block, mode, type, found, extent_of(found, a, b), tools, prediction, depth, rebuilt,
            block.width());
    if (!tools.quantisation_matrix) {
        total += costs.of_squares(squared_difference(source, rebuilt, area, depth));
        if (total >= cost) return;
    }
    cost = total;
    node = {kLeaf, uint8_t(mode), kTransformed, uint8_t(type), 0, 0};
    std::copy_n(rebuilt, area, samples);
    std::copy_n(tried, scan_of(a, b).count, levels);
}

template <class Sample>
RoughCost rough_cost(const BlockPlace& block, const Sample* source, const Sample* prediction,
                     int32_t step, int strength, int weight, Depth<Sample> depth,
                     const BlockCosts& costs, bool rounded) {
    const int a = block.a, b = block.b, area = block.height() * block.width();
    int16_t residual[kMaxBlockArea], coefficients[kMaxCoded], levels[kMaxCoded];
    subtract(source, prediction, area, depth, residual);
    const int64_t squares = squared_difference(source, prediction, area, depth);
    int64_t energy = costs.of_squares(squares);
    transform_forward(residual, a, b, {}, seen_bits(depth), coefficients);
    if (strength)
        energy = weighed(costs.of_coefficients(mmp::weight(coefficients, a, b, strength,
                                                           energy_of(squares, depth)).all),
                         weight);
    if (rounded)
        return {energy, estimated_cost(coefficients, a, b, step, energy, weight, costs)};
    const LevelChoice choice =
        choose_levels<LevelCost<Sample>>(coefficients, a, b, kSmooth, step, costs, levels);
    if (choice.last < 0) return {energy, kNever};
    const int64_t kept = weighed(costs.of_coefficients(choice.kept), weight);
    return {energy, residual_cost(choice.cost, energy, kept)};
}

#define MMP_INSTANTIATE(Sample)                                                                    \
    template void take_block(const Sample*, int, const BlockPlace&, Sample*);                      \
    template WeightedErrors transform_residual(const BlockPlace&, const Sample*, const Sample*,    \
                                               int64_t, int, const BlockTools&, Depth<Sample>,     \
                                               int16_t (*)[kMaxCoded]);                            \
    template struct Trial<Sample>;                                                                 \
    template RoughCost rough_cost(const BlockPlace&, const Sample*, const Sample*, int32_t, int,   \
                                  int, Depth<Sample>, const BlockCosts&, bool);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
