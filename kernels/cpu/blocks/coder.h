// Syntax of the blocks of a fragment, for reading and writing. Source: sections "Blocks", "Modes"
// and "Levels" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <string>
#include <type_traits>
#include <vector>

#include "cpu/blocks/levels.h"
#include "cpu/blocks/models.h"
#include "cpu/blocks/picture.h"
#include "cpu/blocks/reader.h"
#include "cpu/blocks/steps.h"
#include "cpu/blocks/templates.h"
#include "cpu/blocks/transform.h"
#include "cpu/blocks/trees.h"
#include "cpu/entropy/rangecoder.h"
#include "shared/tools.h"

namespace mmp {

// A node of the partition tree.
struct BlockNode {
    uint8_t flag = kLeaf, mode = 0, kind = 0, type = 0;
    uint32_t levels = 0;  // index in BlockPlan of its first level or, for a tree, of its first node
    uint32_t count = 0;   // number of nodes, for a tree
    Extent extent{1, 1};  // of the coefficients of a block that was read
};

// The unit that a block leaves on the samples that it covers.
inline Unit unit_of(const BlockPlace& block, const BlockNode& node) {
    return {uint8_t(block.a), uint8_t(block.b), node.kind == kTree ? uint8_t(kTreeMode) : node.mode,
            node.kind};
}

// The blocks of a fragment in coding order.
struct BlockPlan {
    std::vector<BlockNode> nodes;
    std::vector<int16_t> levels;  // or, of a plan that was read, coefficients
    std::vector<Node> trees;

    void clear() { nodes.clear(), levels.clear(), trees.clear(); }
};

inline uint64_t allowed_modes(const BlockTools& tools, const BlockPlace& block,
                              const Decoded& decoded) {
    const uint64_t templates = tools.templates && templates_allowed(block, decoded);
    return ((uint64_t{1} << kTemplates) - 1) | templates << kTemplates | planes_modes(tools, block);
}

// Predicts one block by any mode.
template <class Sample>
class Predictor {
public:
    // `picture` holds exactly the samples that are decoded before the block.
    Predictor(const BlockTools& tools, const BlockPicture<Sample>& picture,
              const BlockPlace& block);
    // `picture` may hold more samples than are decoded: `decoded` tells which are. `above` and
    // `left` are the numbers of decoded references.
    Predictor(const BlockTools& tools, const BlockPicture<Sample>& picture,
              const BlockPlace& block, int above, int left, Decoded decoded);

    uint64_t allowed() const { return allowed_modes(tools_, block_, decoded_); }
    const References<Sample>& references() const { return references_; }
    const References<Sample>& smooth() const { return smooth_; }
    void predict(int mode, Sample* out) const;

private:
    void smooth_references();

    const BlockTools& tools_;
    const BlockPicture<Sample>& picture_;
    const BlockPlace block_;
    const References<Sample> references_;
    const Decoded decoded_;
    References<Sample> smooth_;
};

// Predicts one block by one mode; `picture` holds exactly the samples that are decoded before it.
template <class Sample>
void predict_mode(const BlockTools& tools, const BlockPicture<Sample>& picture,
                  const BlockPlace& block, int mode, Sample* out);

// Reconstructs a block and writes its samples: prediction plus residual of the dequantised
// coefficients, which are overwritten. Rows of `out` are `stride` apart.
template <class Sample>
void rebuild(const BlockPlace& block, int mode, int type, int16_t* coefficients, Extent extent,
             const BlockTools& tools, const Sample* prediction, Depth<Sample> depth, Sample* out,
             ptrdiff_t stride);

class BlockWriter {
public:
    static constexpr bool kWrites = true;
    BlockWriter(RangeEncoder& coder, BlockModels& models, Tally& tally, CellRates& cells)
        : coder_(coder), models_(models), tally_(tally), cells_(cells) {}

    BlockModels& models() { return models_; }
    int bit(int model, int value);
    int mean_bit(int model, int other, int value);
    int plain(int count, int value);
    // Codes a mode that is not a likely mode.
    int other(int size, const LikelyModes& likely, uint64_t allowed, int mode);
    void tree(BlockTrees& trees, const BlockPlace& block, std::vector<Node>& nodes) {
        trees.encode(coder_, block, nodes);
    }
    bool check(bool, const char*, const char*, int, int, int = 0) { return true; }
    void check_mode(int, uint64_t) {}
    void take(int, int, bool, int, bool) {}
    void end_block(const BlockPlace& block, const BlockTrees* trees) {
        add_rate(cells_, tally_, block, trees);
    }

private:
    void encode(int model, uint32_t one, int value);

    RangeEncoder& coder_;
    BlockModels& models_;
    Tally& tally_;
    CellRates& cells_;
};

// Stands in for a writer where only the symbols are counted.
class BlockCounter {
public:
    static constexpr bool kWrites = true;
    explicit BlockCounter(BlockModels& models) : models_(models) {}

    BlockModels& models() { return models_; }
    int bit(int model, int value) {
        models_.bits[model].count(value);
        return value;
    }
    int mean_bit(int model, int other, int value) {
        models_.bits[other].count(value);
        return bit(model, value);
    }
    int plain(int, int value) { return value; }
    int other(int, const LikelyModes&, uint64_t, int mode) { return mode; }
    void tree(BlockTrees&, const BlockPlace&, std::vector<Node>&) {}
    bool check(bool, const char*, const char*, int, int, int = 0) { return true; }
    void check_mode(int, uint64_t) {}
    void take(int, int, bool, int, bool) {}
    void end_block(const BlockPlace&, const BlockTrees*) {}

private:
    BlockModels& models_;
};

// Codes the symbols of fragments, in either direction. It has no samples: every symbol follows from
// the symbols before it and, for trees, from the dictionaries.
template <class Coder>
class BlockCoder {
public:
    // A writer follows a plan, a reader fills it.
    using Plan = std::conditional_t<Coder::kWrites, const BlockPlan, BlockPlan>;

    // The coder marks the blocks in `units`. `trees` is null without a dictionary. A writer reads
    // `changes`, a reader fills it.
    BlockCoder(BlockUnits& units, const BlockTools& tools, StepChanges& changes, BlockTrees* trees,
               Coder coder)
        : units_(units),
          tools_(tools),
          step_(tools.step),
          changes_(changes),
          trees_(trees),
          coder_(coder) {}

    // Codes the fragment that begins at (row, column).
    void code(int row, int column, Plan& plan) {
        plan_ = &plan;
        next_ = 0;
        if constexpr (!Coder::kWrites) plan.clear();
        if (tools_.delta_step) {
            code_change(coder_, changes_, row, column);
            tools_.step = step_at(step_, changes_.at(row, column));
        }
        visit({row, column, tools_.fragment_log2, tools_.fragment_log2});
    }

private:
    void visit(const BlockPlace& block);
    void code_block(const BlockPlace& block, BlockNode& node);
    void code_predicted(const BlockPlace& block, BlockNode& node);
    void code_tree(const BlockPlace& block, BlockNode& node);

    BlockUnits& units_;
    BlockTools tools_;  // step is the step of the current fragment
    const int32_t step_;
    StepChanges& changes_;
    BlockTrees* trees_;
    Coder coder_;
    std::vector<Node> tree_;  // tree of the current block
    Plan* plan_ = nullptr;
    size_t next_ = 0;
};

}  // namespace mmp
