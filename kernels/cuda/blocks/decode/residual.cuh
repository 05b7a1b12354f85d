// The residual of a leaf from its coefficients. All threads of a CUDA block call each function.
// Source: sections "Transform", "Trained transforms" and "Quantisation matrix" of
// docs/format/format.md.
#pragma once

#include "cuda/blocks/decode/memory.cuh"
#include "cuda/device/product.cuh"
#include "shared/blocks/quantisation_matrix.h"

namespace mmp {

class Residual {
public:
    __device__ Residual(BuildMemory& memory, const BlockPlace& block, const Leaf& leaf)
        : memory_(memory),
          plane_(memory.plane),
          tables_(*memory.plane.tables),
          a_(block.a),
          b_(block.b),
          type_(leaf.kind == kTransformed ? leaf.type : -1),
          rows_(smaller(1 << a_, kCodedSide)),
          columns_(smaller(1 << b_, kCodedSide)),
          extra_(plane_.depth - 8) {
        if (type_ < 0) return;
        for (int i = threadIdx.x; i < rows_ * columns_; i += kBuildThreads)
            memory_.coefficients[i] = 0;
        __syncthreads();
        for (uint32_t n = threadIdx.x; n < leaf.count; n += kBuildThreads) {
            const uint32_t packed = __ldcg(plane_.coefficients + leaf.first + n);
            memory_.coefficients[packed & 0xFFFF] = int16_t(packed >> 16);
        }
        __syncthreads();
        if (type_ == kTransformSkip) return;
        if (type_ == kTrained) undo_trained(leaf.mode);
        if (plane_.tools.quantisation_matrix) undo_weights();
        const bool sine = type_ == kSine, at_border = plane_.tools.border_sines &&
                                                      (block.row || block.column);
        down_ = sine && !(at_border && !block.row) ? kSine : kCosine;
        across_ = sine && !(at_border && !block.column) ? kSine : kCosine;
        const int16_t* turned = tables_.turned[down_][a_ - kMinSideLog2][0];
        for (int i = threadIdx.x; i < columns_ << a_; i += kBuildThreads) {
            const int row = i / columns_, column = i % columns_;
            memory_.half[i] = int16_t(
                saturated(rounded_product(turned + row * kMaxSide, 1, memory_.coefficients + column,
                                          columns_, rows_, kBasisBits)));
        }
        __syncthreads();
    }

    // Sample (i, j) of the residual.
    __device__ int operator()(int i, int j) const {
        if (type_ < 0) return 0;
        if (type_ == kTransformSkip) {
            const int32_t value = memory_.coefficients[(1 << (a_ + b_)) - 1 - ((i << b_) + j)];
            return (value * (1 << extra_) + (1 << (kCoefficientBits - 1))) >> kCoefficientBits;
        }
        const int16_t* turned = tables_.turned[across_][b_ - kMinSideLog2][j];
        const int32_t value = rounded_product(memory_.half + i * columns_, 1, turned, 1, columns_,
                                              kBasisBits + kCoefficientBits - extra_);
        // Residuals of deeper samples do not fit 16 bits.
        return plane_.depth > 15 ? value : saturated(value);
    }

private:
    __device__ void undo_trained(int mode) {
        const TrainedShape own(a_, b_, mode);
        const uint16_t *from = tables_.low_scanned[own.turned][own.shape],
                       *to = tables_.low_rows[own.turned][own.shape];
        const auto& matrix = tables_.trained[own.group][own.high][own.wide];
        const int count = own.count(), k = threadIdx.x;
        if (k < count) memory_.low[k] = memory_.coefficients[from[k]];
        __syncthreads();
        if (k < count) {
            int32_t sum = 1 << (kEntryBits - 1);
            for (int m = 0; m < count; ++m) sum += int32_t{matrix[m][k]} * memory_.low[m];
            memory_.coefficients[to[k]] = int16_t(saturated(sum >> kEntryBits));
        }
        __syncthreads();
    }

    __device__ void undo_weights() {
        for (int n = threadIdx.x; n < rows_ * columns_; n += kBuildThreads) {
            const int i = n / columns_, j = n % columns_;
            const int radius = tables_.radii[(i << kFlatBits) >> a_][(j << kFlatBits) >> b_];
            const int weight = frequency_weight(plane_.tools.quantisation_matrix, radius);
            const int32_t value = memory_.coefficients[n], size = value < 0 ? -value : value;
            const int32_t whole = multiplied(size, weight);
            memory_.coefficients[n] = int16_t(value < 0 ? -whole : whole);
        }
        __syncthreads();
    }

    BuildMemory& memory_;
    const CodedPlane& plane_;
    const DecodeTables& tables_;
    int a_, b_, type_, rows_, columns_, extra_, down_ = kCosine, across_ = kCosine;
};

}  // namespace mmp
