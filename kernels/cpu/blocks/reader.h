// Reads the symbols of predicted blocks from a payload.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/blocks/levels.h"
#include "cpu/blocks/transform.h"
#include "cpu/blocks/trees.h"
#include "cpu/entropy/rangecoder.h"
#include "cpu/entropy/rates.h"
#include "shared/tools.h"

namespace mmp {

// The syntax element whose rate includes the bits of a binary model.
Syntax syntax_of(int model);

// Charges the rate since the previous call to the cells that a block covers.
inline void add_rate(CellRates& cells, const Tally& tally, const BlockPlace& block,
                     const BlockTrees* trees) {
    cells.grow_to(tally.sum() + (trees ? trees->picture.models.tally.sum() : 0), block.row,
                  block.column, block.height(), block.width());
}

// Number of zeros and ones among the first bits that each binary model coded.
struct BitCounts {
    int most;  // maximum number of bits counted per model
    int32_t of[kHeldBitModels][2];
};

// What a reader notes for descriptions of a file; `counts` may be null.
struct ReaderTrace {
    Tally& tally;
    CellRates& cells;
    BitCounts* counts;

    void bit(int model, uint32_t frequency) {
        tally.add(syntax_of(model), frequency, kBitTotal);
    }
    void count(int model, int value) {
        if (counts && counts->of[model][0] + counts->of[model][1] < counts->most)
            ++counts->of[model][value];
    }
    void plain(int count) { tally.rate[kLevelSyntax] += int64_t{count} << kRateFractionBits; }
};

class BlockReader {
public:
    static constexpr bool kWrites = false;
    // `trace` may be null; reading is faster then.
    BlockReader(RangeDecoder& coder, BlockModels& models, ReaderTrace* trace)
        : coder_(coder), models_(models), trace_(trace) {}

    BlockModels& models() { return models_; }
    int bit(int model, int);
    int other(int size, const LikelyModes& likely, uint64_t allowed, int);
    // Reads the levels of a block with this mode and dequantises them; `coefficients` are zeros
    // before. Returns their extent.
    Extent coefficients(int a, int b, int mode, const BlockTools& tools, int16_t* coefficients);
    void tree(BlockTrees& trees, const BlockPlace& block, std::vector<Node>& nodes) {
        trees.decode(coder_, block, nodes);
    }
    bool check(bool good, const char* section, const char* what, int value, int most,
               int least = 0);
    void check_mode(int mode, uint64_t allowed);
    void end_block(const BlockPlace& block, const BlockTrees* trees) {
        if (trace_) add_rate(trace_->cells, trace_->tally, block, trees);
    }

private:
    template <bool kTraced>
    Extent read_coefficients(int a, int b, int mode, const BlockTools& tools,
                             int16_t* coefficients);

    RangeDecoder& coder_;
    BlockModels& models_;
    ReaderTrace* trace_;
};

}  // namespace mmp
