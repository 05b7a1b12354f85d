// Device state of a picture while it is encoded by predicted blocks.
//
// mmpcodec/backends/cuda/blocks_state.py defines the same layouts; a test compares the sizes.
#pragma once

#include "cuda/blocks/sample.cuh"
#include "cuda/blocks/trained_transforms.cuh"
#include "shared/blocks/effort.h"
#include "shared/blocks/models.h"
#include "shared/blocks/plan.h"
#include "shared/blocks/prediction.h"
#include "shared/blocks/quantisation_matrix.h"
#include "shared/blocks/search.h"
#include "shared/blocks/steps.h"
#include "shared/tools.h"

namespace mmp {

constexpr int kBlockThreads = 128;
constexpr int kBlockWarps = kBlockThreads / 32;
constexpr int kMostKept = 12, kMostTried = 8, kMostRough = 4;
constexpr int kMostTrials = kTransformTypes * kMostTried;  // of a block: modes and their transform types
constexpr int kFragmentUnits = kMaxBlockArea / (kUnit * kUnit);

// Most lines of a scan. A line is a run of scan positions with equal frequency; the levels of a
// line do not depend on each other, so they can be chosen in parallel.
constexpr int kMostLines = 94;

// Largest distance, in scan positions, from a level to one around it.
constexpr int kMostSpan = 64;

// A scan position as the trellis sees it.
struct alignas(16) TrellisPlace {
    uint32_t distances;  // of four levels around it, in scan positions, a byte each; 0: none
    uint32_t distance;   // of the fifth one
    uint32_t fine;       // place of its costs with fine contexts, by family: none, across, down
    uint32_t coarse;     // the same without fine contexts
};

struct BlockTables {
    TrellisPlace trellis[kShapes][kMaxCoded];
    // Indexed by transform type, side, frequency and sample; `turned` by sample and frequency
    // (transposed).
    int16_t basis[2][kSides][kMaxSide][kMaxSide];
    int16_t turned[2][kSides][kMaxSide][kMaxSide];
    uint32_t scan[kShapes][kMaxCoded];   // coefficients in scan order, see ScanPlace
    uint16_t order[kShapes][kMaxCoded];  // scan position of each coefficient, row by row
    uint16_t lines[kShapes][kMostLines + 1];  // first scan position of each line, then the end
    uint16_t by_area[kBlocks];           // block numbers, largest area first
    // Trained transforms, see DecodeTables in decode/plane.cuh.
    int8_t trained[kModeGroups][2][2][kMostLow][kMostLow];
    uint16_t low_rows[2][kShapes][kMostLow], low_scanned[2][kShapes][kMostLow];
    uint8_t radii[kFlat][kFlat];  // floor(sqrt(u^2 + v^2)) by u and v
    uint8_t unused[10];           // to a multiple of 16 bytes
};

// A scan position: index of the coefficient in its block, row by row; index in the magnitudes,
// which are padded by two rows and two columns; class of the frequency; line.
struct ScanPlace {
    int place, margin, frequency, line;

    MMP_HD explicit ScanPlace(uint32_t packed)
        : place(packed & 1023),
          margin(packed >> 10 & 2047),
          frequency(packed >> 21 & 3),
          line(packed >> 23) {}
};
// Coefficients of all blocks of one shape in a fragment, most of which overlap.
constexpr int kShapeArea = 4 * kMaxBlockArea;
constexpr int kMostMargins = (kCodedSide + 2) * (kCodedSide + 2);

// Window: the part of the decoded picture around a fragment that the template search reads. Each
// worker has a copy in its global memory.
constexpr int kWindowAbove = kTemplateRows + kUnit, kWindowLeft = kTemplateColumns + kUnit;
constexpr int kWindowRows = kWindowAbove + kMaxSide + kUnit;
constexpr int kWindowColumns = kWindowLeft + 2 * kMaxSide;
constexpr int kWindowBytes = kWindowRows * kWindowColumns;

// Bits of a sample, and how many beyond 8 its costs keep; both are 8 and 0 unless kDeep.
struct SampleDepth {
    int32_t bits;
    int32_t finer;  // see finer_bits()

    MMP_HD constexpr int extra() const { return kDeep ? bits - 8 : 0; }
    MMP_HD constexpr int most() const { return kDeep ? (1 << bits) - 1 : 255; }
    MMP_HD constexpr int middle() const { return kDeep ? 1 << (bits - 1) : 128; }
    MMP_HD constexpr Sample limited(int value) const {
        return Sample(larger(0, smaller(value, most())));
    }
    // Bits beyond 8 that a residual keeps in the forward transform, and those that it drops.
    MMP_HD constexpr int seen() const { return smaller(extra(), kMostSeenBits); }
    MMP_HD constexpr int unseen() const { return extra() - seen(); }
    // Bits beyond 8 that costs drop.
    MMP_HD constexpr int coarser() const { return kDeep ? extra() - finer : 0; }
    MMP_HD constexpr int kept() const { return kDeep ? finer : 0; }
    // The cost of a sum of squared differences of samples, and of squared errors of coefficients in
    // 1/64 squared error of 8-bit samples.
    MMP_HD constexpr int64_t of_squares(int64_t sum) const {
        return sum << kCostFractionBits >> 2 * coarser();
    }
    MMP_HD constexpr int64_t of_coefficients(int64_t sum) const { return sum << 2 * kept() >> 2; }
};

// Constant while a picture is encoded. Each worker keeps a copy in shared memory, with the step, the
// lambda, its root and the fineness of costs of the fragment that it searches.
struct BlockPicture {
    const BlockTables* tables;
    const int32_t* rates;  // log2_rate of every total frequency of a model
    const uint8_t* states;  // trained initial states; null without them
    const Sample* source;
    const Sample* earlier[kMostPlanes];  // planes that predict this one, rows of `shown_width`
    const int8_t* changes;    // step changes of the fragments
    const int64_t* lambdas;   // of the fragments
    const uint8_t* weights;   // of the cells
    Sample* coarse;        // coarsely quantised source, see coarsen.cu
    uint8_t* coarse_bytes;  // its eight most significant bits; `coarse` unless kDeep
    Sample* samples;       // decoded samples
    Unit* units;
    BlockModels* models;  // by column: models after the latest searched fragment
    uint32_t* done;       // searched fragments of each row of fragments
    uint32_t* reported;       // copy of `done` in host memory
    // Plans of all fragments in coding order, with shapes:
    uint16_t* plan_nodes;   // (fragments, kPlanNodes)
    uint32_t* plan_counts;  // (fragments)
    int16_t* plan_levels;   // (fragments, kMaxBlockArea)
    int64_t lambda_fixed;
    int32_t height, width;  // multiples of 4
    int32_t shown_height, shown_width;
    SampleDepth depth;
    BlockTools tools;
    int32_t root;
    BlockEffort effort;
};

// Number, in coding order, of the fragment that holds a sample, and its quantisation step.
MMP_HD int fragment_at(const BlockPicture& picture, int row, int column) {
    const int log2 = picture.tools.fragment_log2;
    const int across = (picture.width + (1 << log2) - 1) >> log2;
    return (row >> log2) * across + (column >> log2);
}
MMP_HD int32_t step_in(const BlockPicture& picture, int fragment) {
    return step_at(picture.tools.step, picture.changes[fragment]);
}
// Weight of a block of the picture.
MMP_HD int weight_in(const BlockPicture& picture, const BlockPlace& block) {
    return weight_of(picture.weights, (picture.width + (1 << kCellLog2) - 1) >> kCellLog2, block);
}

// A sample of an earlier plane; beyond the shown samples, the nearest one.
MMP_HD int earlier_sample(const BlockPicture& picture, int which, int row, int column) {
    row = larger(0, smaller(row, picture.shown_height - 1));
    column = larger(0, smaller(column, picture.shown_width - 1));
    return picture.earlier[which][int64_t{row} * picture.shown_width + column];
}

// Whether ternary splits are searched.
MMP_HD constexpr bool has_ternary(const BlockPicture& picture) {
    return picture.tools.ternary && picture.effort.ternary >= 0;
}
// Place of the coefficients of a block among those of its shape.
MMP_HD constexpr int place_in_shape(const BlockPlace& block) {
    const int down = larger(block.a - 1, kUnitLog2), across = larger(block.b - 1, kUnitLog2);
    const int number = (block.row >> down) * (kMaxSide >> across) + (block.column >> across);
    return number * block.area();
}

// Whether the rough search examines a block: it lies completely in the fragment and in the picture,
// it is not too oblong, and not only ternary splits, which are off, create it. `rows` and `columns` count from the fragment's first sample to the end
// of the picture.
MMP_HD constexpr bool is_rough_searched(const BlockPicture& picture, const BlockPlace& block, int rows,
                                  int columns) {
    const int side = 1 << picture.tools.fragment_log2;
    return block.row + block.height() <= smaller(side, rows) &&
           block.column + block.width() <= smaller(side, columns) &&
           !too_long(block, picture.effort) && (has_ternary(picture) || is_aligned(block));
}

// Results of the rough search for a block, besides its promising modes.
struct RoughModes {
    uint8_t best[2];  // modes of least SATD
    uint8_t count;    // number of modes examined; 0: the block is skipped
    uint8_t settled;  // whether it lies in, or is, a square whose parts are skipped
};

// Residual that a mode of the rough search leaves, or its estimate.
struct RoughResidual {
    int64_t kept;    // energy that rounded levels represent, in 1/16
    int64_t energy;  // in 1/16
    int32_t bits;    // estimated rate of rounded levels, in 1/16 bit
    int32_t unused;
};

// A fragment in the queue.
struct Ticket {
    int32_t picture, row, column;  // row and column of fragments
};

// Memory that all pictures of a launch share.
struct SearchRoom {
    const Ticket* tickets;  // sorted by diagonal
    uint32_t* taken;        // (chunk), whether each ticket of this launch is taken
    const uint32_t* stop;   // in host memory; not 0: no worker takes another ticket
    uint32_t* full;         // in host memory; becomes 1 if the memory of a worker is full
    // Results of the rough search for each ticket of a launch: bit mask of promising modes and, for
    // the `rough` best modes, the residual and its coefficients in scan order.
    uint64_t* modes;              // (chunk, kBlocks)
    RoughModes* rough_modes;      // (chunk, kBlocks)
    RoughResidual* residuals;  // (chunk, kBlocks, rough)
    // Only used if the effort does not round levels:
    int16_t* coefficients;  // (chunk, rough, kShapes, kShapeArea)
    int16_t* levels;        // (workers, kBlockThreads, kMaxCoded), in scan order
    uint8_t* magnitudes;    // (workers, kBlockThreads, kMostMargins), zeroed after use
    uint8_t* own;           // (workers, worker_bytes): memory of each worker, see memory.cuh
    int64_t worker_bytes;
};

}  // namespace mmp
