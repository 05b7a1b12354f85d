// Intra prediction from the samples beside a block: average, planar and angles, with PDPC. All
// threads of a CUDA block call each function. Source: section "Prediction" of
// docs/format/format.md.
#pragma once

#include "cuda/blocks/decode/memory.cuh"

namespace mmp {

// Counts the decoded references above and left of a block, at most its height plus width each.
__device__ inline void count_references(BuildMemory& memory, const BlockPlace& block,
                                        const DecodedBefore& decoded) {
    const int units = (block.height() + block.width()) >> kUnitLog2, lane = threadIdx.x % 32;
    const int side = threadIdx.x / 32;
    if (side < 2) {
        const int row = side ? block.row + lane * kUnit : block.row - 1;
        const int column = side ? block.column - 1 : block.column + lane * kUnit;
        const uint32_t unknown =
            ~__ballot_sync(kAllLanes, lane < units && decoded(row, column));
        if (lane == 0) memory.known[side] = (unknown ? __ffs(int(unknown)) - 1 : 32) << kUnitLog2;
    }
    __syncthreads();
}

// Gathers the references of a block, padded by repeating the last decoded one of each side, and
// smooths them.
__device__ inline void gather_references(BuildMemory& memory, const BlockPlace& block) {
    const CodedPlane& plane = memory.plane;
    const int row = block.row, column = block.column, above = memory.known[0];
    const int left = memory.known[1], length = block.height() + block.width();
    References &plain = memory.direct.plain, &smooth = memory.direct.smooth;
    const int first = above  ? sample_at(plane, row - 1, column)
                      : left ? sample_at(plane, row, column - 1)
                             : middle_sample(plane);
    for (int i = threadIdx.x; i < length; i += kBuildThreads) {
        plain.above[i] = above ? sample_at(plane, row - 1, column + smaller(i, above - 1)) : first;
        plain.left[i] = left ? sample_at(plane, row + smaller(i, left - 1), column - 1) : first;
    }
    if (threadIdx.x == 0)
        plain.corner = above && left ? sample_at(plane, row - 1, column - 1) : first;
    __syncthreads();
    if (length < kSmoothedFrom) return;
    for (int i = threadIdx.x; i < length; i += kBuildThreads) {
        const int after = smaller(i + 1, length - 1);
        smooth.above[i] =
            smoothed(i ? plain.above[i - 1] : plain.corner, plain.above[i], plain.above[after]);
        smooth.left[i] =
            smoothed(i ? plain.left[i - 1] : plain.corner, plain.left[i], plain.left[after]);
    }
    if (threadIdx.x == 0) smooth.corner = smoothed(plain.above[0], plain.corner, plain.left[0]);
    __syncthreads();
}

// Predicts the samples of a block by a mode before kTemplates.
class DirectPrediction {
public:
    __device__ DirectPrediction(BuildMemory& memory, const BlockPlace& block, int mode)
        : memory_(memory.direct),
          plane_(memory.plane),
          a_(block.a),
          b_(block.b),
          mode_(mode),
          angle_(angle_of(mode)),
          slope_(angle_ >= 0 ? angle_slope(angle_) : 0),
          from_above_(angle_ >= kFirstVertical),
          is_smoothed_(block.height() + block.width() >= kSmoothedFrom) {
        if (mode == kAverage) find_average();
        if (angle_ >= 0) find_line();
        __syncthreads();
    }

    // Sample (i, j) of the block.
    __device__ int operator()(int i, int j) const {
        if (mode_ == kConstant) return middle_sample(plane_);
        const References& plain = memory_.plain;
        int value = memory_.average;
        if (mode_ == kPlanar)
            value = planar_sample(i, j, a_, b_, plain.above[j], plain.left[i],
                                  plain.above[1 << b_], plain.left[1 << a_]);
        else if (angle_ >= 0)
            value = from_above_ ? along_angle(i, j) : along_angle(j, i);
        return plane_.tools.pdpc ? blended(i, j, value) : value;
    }

private:
    __device__ const References& references() const {
        return is_smoothed_ ? memory_.smooth : memory_.plain;
    }

    __device__ void find_average() {
        if (threadIdx.x >= 32) return;
        const int height = 1 << a_, width = 1 << b_;
        int sum = 0;
        for (int i = threadIdx.x; i < width; i += 32) sum += memory_.plain.above[i];
        for (int i = threadIdx.x; i < height; i += 32) sum += memory_.plain.left[i];
        sum = int(warp_sum(uint32_t(sum)));
        if (threadIdx.x == 0)
            memory_.average = (sum + (height + width) / 2) / (height + width);
    }

    __device__ void find_line() {
        const References& r = slope_ ? references() : memory_.plain;
        const int length = (1 << a_) + (1 << b_);
        const int32_t *main = from_above_ ? r.above : r.left, *side = from_above_ ? r.left : r.above;
        const int down = 1 << (from_above_ ? a_ : b_);
        const int first = smaller(0, (down * slope_) >> 5);
        for (int k = first + int(threadIdx.x); k <= length + 3; k += kBuildThreads)
            memory_.line[kMaxSide + k] =
                k > 0   ? main[smaller(k, length) - 1]
                : k < 0 ? side[smaller(side_place(-k, -slope_), length) - 1]
                        : r.corner;
    }

    // Sample of an angle, `down` along its direction and `across` it.
    __device__ int along_angle(int down, int across) const {
        const int position = (down + 1) * slope_;
        const int32_t* from = memory_.line + kMaxSide + (position >> 5) + across;
        const Taps taps = taps_of(position & 31);
        int sum = 32;
        for (int k = 0; k < 4; ++k) sum += taps.weight[k] * from[k];
        return limited(plane_, sum >> 6);
    }

    // Position-dependent prediction combination (PDPC).
    __device__ int blended(int i, int j, int value) const {
        const int height = 1 << a_, width = 1 << b_, reach = blend_reach(a_, b_);
        if (mode_ == kAverage || mode_ == kPlanar) {
            const References& r = references();
            const int down = i < reach ? blend_weight(i, a_, b_) : 0;
            const int across = j < reach ? blend_weight(j, a_, b_) : 0;
            return (across * r.left[i] + down * r.above[j] + (64 - down - across) * value + 32) >> 6;
        }
        if (slope_ < 0) return value;
        const int along = from_above_ ? j : i, other = from_above_ ? i : j;
        if (along >= reach) return value;
        const int weight = blend_weight(along, a_, b_);
        if (slope_ == 0) {
            const References& r = memory_.plain;
            const int side = from_above_ ? r.left[i] : r.above[j];
            return limited(plane_, value + ((weight * (side - r.corner) + 32) >> 6));
        }
        const References& r = references();
        const int moved = (inverse_slope(slope_) * (along + 1) + 256) >> 9;
        if (other >= smaller(from_above_ ? height : width, height + width - moved)) return value;
        return blend(weight, (from_above_ ? r.left : r.above)[other + moved], value);
    }

    DirectMemory& memory_;
    const CodedPlane& plane_;
    int a_, b_, mode_, angle_, slope_;
    bool from_above_, is_smoothed_;
};

}  // namespace mmp
