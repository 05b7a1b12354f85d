// Encoding and decoding of a plane with predicted blocks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/blocks/coder.h"
#include "cpu/blocks/search/rough_search.h"
#include "cpu/trees/picture.h"
#include "shared/blocks/plan.h"

namespace mmp {

template <class Sample>
struct CodedBlocks {
    CodedBlocks(Plane plane, Depth<Sample> depth, const BlockTools& tools,
                const std::optional<Tools>& tree_tools, const EarlierSamples<Sample>& earlier,
                int threads);

    const EarlierPlanes<Sample> earlier;
    BlockPicture<Sample> picture;
    StepChanges changes;
    BlockModels models;
    Tally tally;
    CellRates cells;
    ThreadTeam team;
    std::unique_ptr<BlockTrees> trees;  // null without a dictionary
};

struct BlockOptions {
    RateOptions rates;
    BlockEffort effort;
    int threads;
    const SearchKernel& kernel;
    // Step change and lambda of each fragment in coding order; `lambdas` replaces the lambda above.
    // Both are empty if all fragments use the same step and lambda.
    std::vector<int8_t> changes = {};
    std::vector<int64_t> lambdas = {};
    CellWeights cell_weights = {};
};

// Encodes a plane of samples, rows from the top. With tree tools, blocks of 8-bit samples may be
// trees. Every earlier plane has the size of the plane.
template <class Sample>
std::pair<std::vector<uint8_t>, std::unique_ptr<CodedBlocks<Sample>>> encode_blocks(
    const Sample* samples, Plane plane, Depth<Sample> depth, const BlockTools& tools,
    const std::optional<Tools>& tree_tools, const EarlierSamples<Sample>& earlier,
    const BlockOptions& options, const Progress& progress);

// Entropy codes the plans that a device chose, one fragment after the other.
class PlanCoder {
public:
    // `changes` are the step changes of the fragments in coding order.
    PlanCoder(Plane plane, const BlockTools& tools, const std::vector<int8_t>& changes);

    // Codes the next fragment; shared/blocks/plan.h describes `nodes` and `levels`.
    void code(const uint16_t* nodes, const int16_t* levels);
    std::vector<uint8_t> finish() { return coder_.finish(); }
    const CodedBlocks<uint8_t>& coded() const { return *coded_; }
    Plane plane() const { return plane_; }

private:
    void unpack(const BlockPlace& block);

    const Plane plane_;
    const BlockTools tools_;
    RangeEncoder coder_;
    std::unique_ptr<CodedBlocks<uint8_t>> coded_;
    BlockCoder<BlockWriter> writer_;
    BlockPlan plan_;
    BlockPlace fragment_;
    const uint16_t* nodes_ = nullptr;
    const int16_t* levels_ = nullptr;
};

// Decodes a payload. If `traced`, fills in tally and cells, which takes a fifth of the time; counts
// may be null. Throws TruncatedPayload or CorruptPayload.
template <class Sample>
std::unique_ptr<CodedBlocks<Sample>> decode_blocks(const uint8_t* payload, size_t size,
                                                   Plane plane, Depth<Sample> depth,
                                                   const BlockTools& tools,
                                                   const std::optional<Tools>& tree_tools,
                                                   const EarlierSamples<Sample>& earlier,
                                                   int threads, const Progress& progress,
                                                   bool traced = false,
                                                   BitCounts* counts = nullptr);

}  // namespace mmp
