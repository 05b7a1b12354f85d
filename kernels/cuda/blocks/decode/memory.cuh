// Shared memory of a CUDA block that rebuilds the leaves of a plane one after the other.
#pragma once

#include "cuda/blocks/decode/plane.cuh"
#include "cuda/blocks/sample.cuh"
#include "cuda/blocks/planes.cuh"
#include "cuda/device/warp.cuh"

namespace mmp {

constexpr int kBuildThreads = kPlanesThreads, kBuildWarps = kBuildThreads / 32;
constexpr int kReferences = 2 * kMaxSide;
// The search area of template matching, with the templates around its places.
constexpr int kWindowRows = kTemplateWidth + kTemplateRows + kMaxSide;
constexpr int kWindowColumns = 2 * kTemplateColumns + kMaxSide + kTemplateWidth;

// References of a block: samples above it, left of it, and the corner.
struct References {
    int32_t above[kReferences], left[kReferences], corner;
};

struct DirectMemory {
    References plain, smooth;
    // The line of an angle: the corner at place kMaxSide, samples of the main side after it, and
    // projected samples of the other side before it.
    int32_t line[kMaxSide + kReferences + 4];
    int32_t average;
};

struct MatchingMemory {
    uint8_t window[kWindowRows * kWindowColumns];
    int32_t offsets[kTemplateSamples];  // of the samples of a template, in the window
    uint8_t wanted[kTemplateSamples];
    int32_t counts[kTemplateRows + 1];  // places in each row
    uint32_t best[2 * kTemplateColumns];  // error and row, by column
    int32_t places[kMostTemplates], taken;
};

struct BuildMemory {
    CodedPlane plane;
    int16_t coefficients[kMaxCoded];
    int16_t half[kMaxSide * kCodedSide];
    int16_t low[kMostLow];
    int32_t known[2];  // decoded references above and left
    uint32_t ticket;
    union {
        DirectMemory direct;
        PlanesMemory planes;
        MatchingMemory matching;
    };
};

// What is known of samples before a leaf in coding order.
class DecodedBefore {
public:
    __device__ DecodedBefore(const CodedPlane& plane, uint32_t leaf) : plane_(plane), leaf_(leaf) {}
    __device__ bool operator()(int row, int column) const {
        if (row < 0 || column < 0 || row >= plane_.height || column >= plane_.width) return false;
        // 0, for a unit that is not read yet, becomes the largest number.
        return __ldcg(plane_.order + plane_.unit_number(row, column)) - 1 < leaf_;
    }

private:
    const CodedPlane& plane_;
    uint32_t leaf_;
};

// Decoded samples of the plane. Other CUDA blocks write some, so that reads skip the first cache.
__device__ inline int sample_at(const CodedPlane& plane, int row, int column) {
    const auto* samples = static_cast<const Sample*>(plane.samples);
    return __ldcg(samples + int64_t{row} * plane.width + column);
}
// A sample of an earlier plane; beyond the shown samples, the nearest one.
__device__ inline int earlier_at(const CodedPlane& plane, int which, int row, int column) {
    row = larger(0, smaller(row, plane.shown_height - 1));
    column = larger(0, smaller(column, plane.shown_width - 1));
    const auto* samples = static_cast<const Sample*>(plane.earlier[which]);
    return __ldg(samples + int64_t{row} * plane.width + column);
}
__device__ inline int most_sample(const CodedPlane& plane) { return (1 << plane.depth) - 1; }
__device__ inline int middle_sample(const CodedPlane& plane) { return 1 << (plane.depth - 1); }
__device__ inline int limited(const CodedPlane& plane, int value) {
    return larger(0, smaller(value, most_sample(plane)));
}

}  // namespace mmp
