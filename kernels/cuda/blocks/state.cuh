// The state of a picture on the device while it is encoded by predicted blocks.
//
// mmpcodec/backends/cuda/blocks_state.py lays the same structures out; a test compares the sizes.
#pragma once

#include "shared/blocks/effort.h"
#include "shared/blocks/models.h"
#include "shared/blocks/plan.h"
#include "shared/blocks/prediction.h"
#include "shared/blocks/search.h"
#include "shared/tools.h"

namespace mmp {

constexpr int kBlockThreads = 128;
constexpr int kBlockWarps = kBlockThreads / 32;
constexpr int kMostSurveyed = 12, kMostTried = 8, kMostRough = 4;
constexpr int kMostWorkers = 64;  // of a team

// The most lines of a scan. A line is the places in scan order whose levels do not depend on each
// other: those of equal frequency, by which the scan is ordered.
constexpr int kMostLines = 94;

// Constant tables.
struct BlockTables {
    // By transform type, side, frequency and sample; `turned` swaps frequency and sample.
    int16_t basis[2][kSides][kMaxSide][kMaxSide];
    int16_t turned[2][kSides][kMaxSide][kMaxSide];
    uint32_t scan[kShapes][kMaxCoded];   // places of coefficients in scan order, see ScanPlace
    uint16_t order[kShapes][kMaxCoded];  // place in scan order of each coefficient, row by row
    uint16_t lines[kShapes][kMostLines + 1];  // the first place of each line, then the end
    uint16_t by_area[kBlocks];           // block numbers, the largest area first
};

// The index of a coefficient in its block, row by row, its index in the array of magnitudes, which
// has two more columns and rows, the class of its frequency, and its line.
struct ScanPlace {
    int place, margin, frequency, line;

    MMP_HD explicit ScanPlace(uint32_t packed)
        : place(packed & 1023),
          margin(packed >> 10 & 2047),
          frequency(packed >> 21 & 3),
          line(packed >> 23) {}
};
// The most magnitudes of all blocks of one shape in a fragment: those of 4x4 blocks.
constexpr int kMarginArea = kMaxBlockArea / 16 * 36;
constexpr int kMostMargins = (kCodedSide + 2) * (kCodedSide + 2);

// The part of the decoded picture around a fragment that the template search reads. Each worker has
// a copy in its memory.
constexpr int kWindowAbove = kTemplateRows + kUnit, kWindowLeft = kTemplateColumns + kUnit;
constexpr int kWindowRows = kWindowAbove + kMaxSide + kUnit;
constexpr int kWindowColumns = kWindowLeft + 2 * kMaxSide;
constexpr int kWindowBytes = kWindowRows * kWindowColumns;

// The best plans of two teams, which they exchange.
struct Mail {
    int64_t cost[2];
    const uint8_t* record[2];
};

// Constant while a picture is encoded. Each worker keeps a copy in shared memory.
struct BlockPicture {
    const BlockTables* tables;
    const int32_t* rates;  // log2_rate of every total that a model can have
    const uint8_t* source;
    uint8_t* coarse;   // the source, coarsely quantised, see coarsen.cu
    uint8_t* samples;  // decoded
    Unit* units;
    BlockModels* models;  // by column: what the latest row has learned after its fragment there
    uint32_t* done;       // by row of fragments: how many of its fragments are searched
    uint32_t* told;       // the same in memory of the host
    // The plans of all fragments in coding order:
    uint16_t* plan_nodes;   // (fragments, kPlanNodes)
    uint32_t* plan_counts;  // (fragments)
    int16_t* plan_levels;   // (fragments, kMaxBlockArea)
    int64_t lambda_fixed;
    int32_t height, width;  // multiples of 4
    MMP_CUDA_BLOCK_TOOLS(MMP_TOOL_MEMBER)
    int32_t fragment_log2, root;
    BlockEffort effort;
};

// Workers that search a fragment together.
struct BlockTeam {
    Mail mail[2 * kMostWorkers];
    uint32_t arrived[2 * kMostWorkers];  // workers that have arrived at the barrier of each team
    uint32_t ticket;
};

// Whether the survey looks at a block: it lies in the fragment and in the picture, of which `rows` and
// `columns` are left from the fragment's first sample on, and is not too long.
MMP_HD constexpr bool is_surveyed(const BlockPicture& picture, const BlockPlace& block, int rows,
                                  int columns) {
    const int side = 1 << picture.fragment_log2;
    return block.row + block.height() <= smaller(side, rows) &&
           block.column + block.width() <= smaller(side, columns) &&
           !too_long(block, picture.effort);
}

// What the survey finds of a block, besides its promising modes.
struct SurveyedModes {
    uint8_t best[2];  // the modes of least difference
    uint8_t count;    // modes that the survey has looked at
    uint8_t unused;
};

// What a mode of the survey leaves of a block.
struct SurveyedResidual {
    int64_t kept;    // energy that rounded levels code, in 1/16
    int32_t energy;
    int32_t bits;    // estimated rate of rounded levels, in 1/16 bit
};

// A fragment that waits for a team.
struct Ticket {
    int32_t picture, row, column;  // row and column of fragments
};

// Shared by all pictures of a launch.
struct SearchRoom {
    const Ticket* tickets;  // those of the first diagonals come first
    uint32_t* taken;        // (chunk), whether a team has taken each ticket of this launch
    const uint32_t* stop;   // memory of the host; not 0: no team takes a ticket
    // Results of the survey for each ticket of a launch: promising modes as bits, and, for the
    // `rough` best modes, the residual and its coefficients in scan order.
    uint64_t* modes;              // (chunk, kBlocks)
    SurveyedModes* surveyed;      // (chunk, kBlocks)
    SurveyedResidual* residuals;  // (chunk, kBlocks, rough)
    // These three only where the effort does not round levels:
    int16_t* coefficients;  // (chunk, rough, kShapes, kMaxBlockArea)
    int16_t* levels;        // (teams, rough, kShapes, kMaxBlockArea), in scan order
    uint8_t* magnitudes;    // (teams, rough, kShapes, kMarginArea), zero between uses
    // For each team, about the fragment that it searches:
    int64_t* rough_costs;  // (teams, kBlocks, kMostRough)
    BlockTeam* teams;
    uint8_t* findings;  // memory of each worker, see record_layout.cuh
    int64_t worker_bytes;
};

}  // namespace mmp
