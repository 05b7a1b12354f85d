// Shared memory of one worker of the search for blocks.
#pragma once

#include "cuda/blocks/search/canvas.cuh"
#include "cuda/blocks/costs.cuh"
#include "cuda/blocks/levels.cuh"
#include "cuda/blocks/planes.cuh"
#include "cuda/blocks/prediction.cuh"
#include "cuda/blocks/search/outcomes.cuh"
#include "cuda/blocks/search/rounded.cuh"
#include "cuda/blocks/templates.cuh"
#include "cuda/blocks/trellis.cuh"

namespace mmp {

constexpr int kMostCandidates = kMostKept + 4;
constexpr int kSearchers = kBlockWarps - 1;  // number of warps that search for templates
// Bit of BlockSearchMemory::worth: template matching may predict the block or a part of it.
constexpr int kMatched = 7;

// A mode that is tried in full, with all transform types, each in a slot of the arrays. Coefficients
// are in scan order, reconstructed ones row by row.
template <int kTypes, int kCoded, int kMargins, int kHalf, int kArea>
struct TriedMode {
    struct Slot {
        int16_t coefficients[kCoded], levels[kCoded], half[kHalf];
        uint8_t magnitudes[kMargins];
    } slots[kTypes];
    Sample prediction[kArea];
};
constexpr int kSmallSide = 1 << kMaxSineLog2, kSmallArea = kSmallSide * kSmallSide;
using SmallCandidate = TriedMode<kTransformTypes, kSmallArea, (kSmallSide + 2) * (kSmallSide + 2),
                                 kSmallArea, kSmallArea>;
using LargeCandidate =
    TriedMode<2, kMaxCoded, kMostMargins, kCodedSide * kMaxSide, kMaxBlockArea>;
// Whether the candidates of a block are SmallCandidate, which have all types; others have the cosine
// transform and the trained one.
MMP_HD constexpr bool is_small(const BlockPlace& block) { return sine_allowed(block.a, block.b); }

// Data of a worker in global memory, which leaves room for more workers in shared memory.
struct alignas(16) Planes {
    int16_t levels[kMaxSide][kMaxSide];
    Sample slow[kSlowModes][kMaxBlockArea];  // predictions of a block by the slow modes
    LargeCandidate candidates[kMostTried];
    TrellisRoom trellis[kMostTrials];
    BitCosts bit_costs;
};

// Global memory of a worker.
struct WorkerMemory {
    Planes planes;
    FoundMemory found;
    alignas(16) uint8_t window[kWindowBytes];
    alignas(16) Sample deep_window[kDeep ? kWindowBytes : 1];
};

// Levels of a block, for the adaptation of the models.
struct CountedLevels {
    int16_t levels[kMaxCoded];
    uint8_t magnitudes[kMostMargins];
};

struct TransformTrial {
    int64_t cost;      // rate cost only, without distortion
    int64_t estimate;  // of the whole cost; used if the effort drops residuals by estimate
    int32_t top, skipped;
    RoundedLevels rounded;
};

struct TrialMemory {
    int32_t count;  // number of modes
    uint8_t modes[kMostCandidates];
    // For each promising mode: its cost in 1/16 squared error, its cost in units of absolute
    // differences, and the SATD of its residual.
    int32_t mode_costs[kMostCandidates], sayings[kMostCandidates], sums[kMostCandidates];
    uint8_t ranked[kMostCandidates];
    unsigned long long squares[kMostTried];  // squared error of the prediction
    // With a quantisation matrix: squares of the coefficients of the cosine transform, before and
    // after division by the weights; weighted error of those that are not coded.
    unsigned long long coded[kMostTried], kept[kMostTried];
    int64_t rests[kMostTried];
    int64_t energies[kMostTried];  // cost of the error of the prediction
    int32_t weight;                // of errors in the block
    TransformTrial trials[kMostTrials];
    // Squared errors of the samples or, with a quantisation matrix, of the divided coefficients.
    unsigned long long errors[kMostTrials];
    int64_t cost;
    int32_t best;
    uint16_t node;
};

struct BlockSearchMemory {
    BlockPicture picture;
    SearchRoom room;  // pointers to arrays of workers point to this worker's part
    BlockCosts costs;
    BlockModels models;
    uint32_t mode_totals[kSizes];
    Canvas canvas;
    PredictMemory predict;
    Line lines[kMostCandidates];
    TrialMemory trial;
    TemplateMemory templates[kSearchers];
    Sample source[kMaxSide][kMaxSide];
    Planes* planes;
    FoundMemory* found;
    const uint64_t* modes;   // bit mask of the modes that the rough search proposes, by block
    uint8_t worth[kBlocks];  // bit f: flag f is worth a trial; see kMatched
    // The eight most significant bits of decoded samples, see kWindowRows; null without templates.
    // Whole samples if kDeep.
    uint8_t *own_window, *window;
    Sample* deep_window;
    uint32_t shown[kMaxSide / kUnit][kMaxSide / kUnit];  // leaf of each unit; 0: none
    uint32_t around[kFragmentUnits];  // leaf numbers around a block
    uint32_t ticket;
    uint16_t nodes[kPlanNodes];
    union {
        SmallCandidate candidates[1];  // one per tried mode
        CountedLevels counted;
        PlanesMemory fit;
    };

    // Source sample (i, j) of a block.
    __device__ int source_at(const BlockPlace& block, int i, int j) const {
        return source[block.row + i][block.column + j];
    }
};

// Candidate `number` of a block; small ones are in shared memory, large ones in global memory.
template <class Candidate>
__device__ Candidate& candidate_of(BlockSearchMemory& memory, int number);
template <>
__device__ inline SmallCandidate& candidate_of(BlockSearchMemory& memory, int number) {
    return memory.candidates[number];
}
template <>
__device__ inline LargeCandidate& candidate_of(BlockSearchMemory& memory, int number) {
    return memory.planes->candidates[number];
}

// Returns the shared memory of this worker. Call it at each use, so that the compiler knows the
// address space.
__device__ inline BlockSearchMemory& search_memory() {
    extern __shared__ __align__(16) uint8_t shared[];
    return *reinterpret_cast<BlockSearchMemory*>(shared);
}

// Bytes of shared memory per worker without candidates; at least sizeof(BlockSearchMemory).
MMP_HD constexpr int64_t bytes_without_candidates() {
    const int within = larger(int(sizeof(CountedLevels)), int(sizeof(SmallCandidate)));
    return int64_t{sizeof(BlockSearchMemory)} - larger(within, int(sizeof(PlanesMemory)));
}

// View of the window for the template search.
struct WindowPlaces {
    const uint8_t* window;
    const Sample* deep_window;
    int row, column;  // of the fragment in the picture
    static constexpr int stride = kWindowColumns;

    __device__ const uint8_t* pointer(int y, int x) const { return window + place(y, x); }
    __device__ const Sample* sample(int y, int x) const {
        return kDeep ? deep_window + place(y, x) : reinterpret_cast<const Sample*>(pointer(y, x));
    }
    __device__ int place(int y, int x) const {
        return (y - row + kWindowAbove) * stride + x - column + kWindowLeft;
    }
};

// Writes samples to a place of the window.
struct alignas(4 * sizeof(Sample)) FourSamples {
    Sample of[4];
};
__device__ inline void write_window(BlockSearchMemory& memory, int place, const FourSamples& four) {
    uint32_t bytes = 0;
    for (int i = 0; i < 4; ++i)
        bytes |= uint32_t(four.of[i] >> memory.picture.depth.extra()) << 8 * i;
    *reinterpret_cast<uint32_t*>(memory.window + place) = bytes;
    if (kDeep) *reinterpret_cast<FourSamples*>(memory.deep_window + place) = four;
}

// Returns the end of the decoded columns of the picture in row `lane` of units of the fragment.
__device__ inline int decoded_end(const BlockSearchMemory& memory) {
    const Canvas& canvas = memory.canvas;
    const int row = threadIdx.x % 32 * kUnit;
    if (row >= min(1 << memory.picture.tools.fragment_log2, canvas.rows)) return 0;
    int units = 0;
#pragma unroll
    for (int n = 0; n < kMaxSide / kUnit; ++n) units += canvas.known(row, n * kUnit);
    return canvas.column + units * kUnit;
}

// Whether sample (y, x) of the picture is decoded; it must lie within the window.
__device__ inline bool is_decoded(const BlockSearchMemory& memory, int y, int x) {
    const Canvas& canvas = memory.canvas;
    const int row = y - canvas.row, column = x - canvas.column;
    if (row < -kReach) return column < canvas.columns;
    if (column < -kReach) return row < min(1 << memory.picture.tools.fragment_log2, canvas.rows);
    return canvas.known(row, column);
}

__device__ inline void start_canvas(BlockSearchMemory& memory, int row, int column) {
    const BlockPicture& picture = memory.picture;
    Canvas& canvas = memory.canvas;
    if (threadIdx.x == 0) {
        canvas.row = row, canvas.column = column;
        canvas.rows = picture.height - row, canvas.columns = picture.width - column;
    }
    constexpr int kUnitRows = kCanvasRows / kUnit, kUnitColumns = kCanvasColumns / kUnit;
    for (int i = threadIdx.x; i < kUnitRows * kUnitColumns; i += kBlockThreads) {
        const int y = row - kReach + i / kUnitColumns * kUnit;
        const int x = column - kReach + i % kUnitColumns * kUnit;
        const bool inside = y >= 0 && x >= 0 && y < picture.height && x < picture.width;
        (&canvas.units[0][0])[i] =
            inside ? picture.units[int64_t{y / kUnit} * (picture.width / kUnit) + x / kUnit]
                   : Unit{};
    }
    for (int i = threadIdx.x; i < kCanvasRows * kCanvasColumns; i += kBlockThreads) {
        const int y = row - kReach + i / kCanvasColumns, x = column - kReach + i % kCanvasColumns;
        const bool inside = y >= 0 && x >= 0 && y < picture.height && x < picture.width;
        (&canvas.samples[0][0])[i] = inside ? picture.samples[int64_t{y} * picture.width + x] : 0;
    }
    for (int i = 4 * threadIdx.x; memory.window && i < kWindowBytes; i += 4 * kBlockThreads) {
        const int y = row - kWindowAbove + i / kWindowColumns;
        const int x = column - kWindowLeft + i % kWindowColumns;
        if (y >= 0 && x >= 0 && y < picture.height && x < picture.width)
            write_window(memory, i,
                         *reinterpret_cast<const FourSamples*>(
                             picture.samples + int64_t{y} * picture.width + x));
    }
    for (int i = threadIdx.x; i < kMaxBlockArea; i += kBlockThreads) {
        const int y = min(row + i / kMaxSide, picture.height - 1);
        const int x = min(column + i % kMaxSide, picture.width - 1);
        (&memory.source[0][0])[i] = picture.source[int64_t{y} * picture.width + x];
    }
    __syncthreads();
}

}  // namespace mmp
