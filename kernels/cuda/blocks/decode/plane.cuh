// A plane of predicted blocks that a device decodes: what the host gives, and what the kernels hand
// on. One kernel reads the symbols of a plane, another one rebuilds its samples.
//
// mmpcodec/backends/cuda/decoding/state.py defines the same layouts; a test compares the sizes.
#pragma once

#include "cuda/blocks/trained_transforms.cuh"
#include "shared/blocks/leaf.h"
#include "shared/blocks/models.h"
#include "shared/blocks/partition.h"
#include "shared/blocks/prediction.h"
#include "shared/blocks/quantisation_matrix.h"
#include "shared/blocks/steps.h"
#include "shared/blocks/transform.h"
#include "shared/tools.h"

namespace mmp {

constexpr int kScanFamilies = 3;

// A scan position with fine contexts, as pairs of 16-bit numbers, the first one in the low bits.
struct alignas(16) LevelPosition {
    uint32_t place_margin;    // index of the coefficient in its block, and in the padded sums
    uint32_t zero_fine_zero;  // the first binary models of the bit that says that a level is not 0
    uint32_t one_remainder;   // the first of the other models
    uint32_t frequency;       // class with fine contexts
};
MMP_HD constexpr uint32_t pair_of(int low, int high) {
    return uint32_t(low) | uint32_t(high) << 16;
}

// Tables that follow from the format alone.
struct DecodeTables {
    // Indexed by transform type, side, sample and frequency.
    int16_t turned[2][kSides][kMaxSide][kMaxSide];
    // Scan positions by the direction of the family of modes: none, across, down.
    LevelPosition positions[kScanFamilies][kShapes][kMaxCoded];
    uint16_t scan[kShapes][kMaxCoded];  // indices of the coefficients in scan order
    // Trained transforms by group of modes, and by whether there are six rows, and six columns, of
    // low frequencies: a row for each transformed value.
    int8_t trained[kModeGroups][2][2][kMostLow][kMostLow];
    // Places of the low frequencies of a block, or of one with rows and columns swapped: row by row,
    // and in scan order.
    uint16_t low_rows[2][kShapes][kMostLow], low_scanned[2][kShapes][kMostLow];
    uint8_t radii[kFlat][kFlat];  // floor(sqrt(u^2 + v^2)) by u and v
};

struct CodedPlane {
    const DecodeTables* tables;
    const uint8_t* payload;
    const uint8_t* states;   // trained initial states for this plane; null without them
    Leaf* leaves;            // in coding order
    uint32_t* fragments;     // (fragments + 1): the first leaf of each; 0 at the start
    uint32_t* coefficients;
    int8_t* changes;         // (fragments): step changes
    Unit* units;
    uint32_t* order;         // for each unit, the number of its leaf plus 1; 0 at the start
    void* samples;           // rows are `width` samples apart
    const void* earlier[kMostPlanes];  // filtered planes that predict this one, in the same layout
    uint32_t* done;          // rebuilt fragments of each row of fragments
    uint32_t payload_size;
    uint32_t fault;          // not 0 if the payload does not decode
    int32_t height, width;   // multiples of 4
    int32_t shown_height, shown_width;
    int32_t depth;           // bits of a sample, 8 to 16
    BlockTools tools;

    MMP_HD int side() const { return 1 << tools.fragment_log2; }
    MMP_HD int fragment_rows() const { return (height + side() - 1) >> tools.fragment_log2; }
    MMP_HD int fragment_columns() const { return (width + side() - 1) >> tools.fragment_log2; }
    MMP_HD int64_t unit_number(int row, int column) const {
        return int64_t{row >> kUnitLog2} * (width >> kUnitLog2) + (column >> kUnitLog2);
    }
};

// First row or column of the search area of template matching.
MMP_HD constexpr int first_place(int at, int reach) {
    return larger(kTemplateWidth, at - reach);
}

}  // namespace mmp
