// Errors of coefficients that a quantisation matrix weighs.
#pragma once

#include "cuda/blocks/state.cuh"

namespace mmp {

// Weight of the frequency at (row, column) of a block, in 1/64.
__device__ inline int weight_at(const BlockTables& tables, int strength, int a, int b, int row,
                                int column) {
    return frequency_weight(strength,
                            tables.radii[(row << kFlatBits) >> a][(column << kFlatBits) >> b]);
}

// A coefficient after division by the weight of its frequency.
__device__ inline int16_t divided_coefficient(const BlockTables& tables, int strength, int a, int b,
                                              int row, int column, int value) {
    const int weight = weight_at(tables, strength, a, b, row, column);
    const int32_t size = divided(uint32_t(abs(value)), inverse_weight(weight));
    return int16_t(value < 0 ? -size : size);
}

// Adds a number of each of sixteen neighbouring threads, which call it together, to one sum.
__device__ inline void add_to(unsigned long long& sum, int64_t value) {
    const uint32_t lanes = 0xFFFFu << (threadIdx.x & 16);
    for (int apart = 8; apart; apart /= 2) value += __shfl_xor_sync(lanes, value, apart);
    if (threadIdx.x % 16 == 0) atomicAdd(&sum, static_cast<unsigned long long>(value));
}
// The same of numbers whose sum is below 2^32.
__device__ inline void add_to(unsigned long long& sum, uint32_t value) {
    const uint32_t own = __reduce_add_sync(0xFFFFu << (threadIdx.x & 16), value);
    if (threadIdx.x % 16 == 0) atomicAdd(&sum, static_cast<unsigned long long>(own));
}
// Adds the squared difference of two samples; see add_to().
__device__ inline void add_square(unsigned long long& sum, int difference) {
    if (kDeep)
        add_to(sum, int64_t{difference} * difference);
    else
        add_to(sum, uint32_t(difference * difference));
}
// Adds the squares of a coefficient before and after division; see add_to().
__device__ inline void add_squares(unsigned long long& before, unsigned long long& after,
                                   int32_t whole, int32_t divided) {
    add_to(before, int64_t{whole} * whole);
    add_to(after, int64_t{divided} * divided);
}

// Weighted squared errors of a residual, in 1/64 squared error: `rest` is the error of the
// coefficients that are not coded; `all` is the error if every coefficient becomes 0.
struct WeightedErrors {
    int64_t rest, all;
};
// The errors of a residual with this sum of squares, from the sums of squared coefficients before
// and after division by the weights.
__device__ inline WeightedErrors weighted_error(const BlockTables& tables, int strength, int a,
                                                int b, SampleDepth depth, int64_t squares,
                                                int64_t coded, int64_t kept) {
    int64_t rest = 0;
    if (max(a, b) > kCodedSideLog2) {
        const int last = weight_at(tables, strength, a, b, min(1 << a, kCodedSide) - 1,
                                   min(1 << b, kCodedSide) - 1);
        const int64_t energy = squares << 2 * kCoefficientBits >> 2 * depth.extra();
        rest = uncoded_error(energy, coded, last);
    }
    return {rest, kept + rest};
}

}  // namespace mmp
