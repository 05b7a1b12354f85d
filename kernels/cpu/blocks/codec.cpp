#include "cpu/blocks/codec.h"

#include <algorithm>

#include "cpu/blocks/search/search.h"

namespace mmp {

namespace {

int padded(int length) { return (length + kUnit - 1) / kUnit * kUnit; }

// Calls progress, then work(row, column), for each fragment in coding order. Progress counts 16x16
// fragments in all codings.
template <class Work>
void for_each_fragment(Plane plane, const BlockTools& tools, const Progress& progress,
                       const Work& work) {
    const auto across = [](int length) { return int64_t{(length + 15) / 16}; };
    const int64_t total = across(plane.height) * across(plane.width);
    const int side = 1 << tools.fragment_log2;
    for (int row = 0; row < plane.height; row += side) {
        const int64_t rows = across(std::min(side, plane.height - row));
        for (int column = 0; column < plane.width; column += side) {
            progress(row / 16 * across(plane.width) + column / 16 * rows, total);
            work(row, column);
        }
    }
    progress(total, total);
}

}  // namespace

template <class Sample>
CodedBlocks<Sample>::CodedBlocks(Plane plane, Depth<Sample> depth, const BlockTools& tools,
                                 const std::optional<Tools>& tree_tools, int threads)
    : picture(padded(plane.height), padded(plane.width), depth),
      team(threads),
      trees(tree_tools ? std::make_unique<BlockTrees>(plane, *tree_tools, tools.fragment_log2, team)
                       : nullptr) {}

template <class Sample>
std::pair<std::vector<uint8_t>, std::unique_ptr<CodedBlocks<Sample>>> encode_blocks(
    const Sample* samples, Plane plane, Depth<Sample> depth, const BlockTools& tools,
    const std::optional<Tools>& tree_tools, const BlockOptions& options,
    const Progress& progress) {
    auto coded =
        std::make_unique<CodedBlocks<Sample>>(plane, depth, tools, tree_tools, options.threads);
    const int height = coded->picture.height, width = coded->picture.width;
    std::vector<Sample> source(size_t(height) * width);
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column)
            source[size_t(row) * width + column] =
                samples[size_t(std::min(row, plane.height - 1)) * plane.width +
                        std::min(column, plane.width - 1)];
    RangeEncoder coder;
    BlockModels models;
    models.start();
    BlockCosts costs(options.rates.lambda_fixed, depth.extra());
    BlockPlan plan;
    BlockCoder<BlockWriter, Sample> writer(coded->picture, tools, coded->trees.get(),
                                           BlockWriter(coder, models, coded->tally));
    std::unique_ptr<BlockTreeSearch> tree_search;
    if constexpr (kIsByte<Sample>)
        if (coded->trees)
            tree_search = std::make_unique<BlockTreeSearch>(source.data(), height, width,
                                                            *coded->trees, options.rates,
                                                            options.kernel, coded->team);
    BlockSearch<Sample> search(source.data(), coded->picture, tools, options.effort,
                               tree_search.get(), coded->team);
    for_each_fragment(plane, tools, progress, [&](int row, int column) {
        costs.refresh(models);
        search.find(row, column, models, costs, plan);
        search.write(coded->picture);
        writer.code(row, column, plan);
    });
    return {coder.finish(), std::move(coded)};
}

PlanCoder::PlanCoder(Plane plane, const BlockTools& tools)
    : plane_(plane),
      tools_(tools),
      coded_(std::make_unique<CodedBlocks<uint8_t>>(plane, Depth<uint8_t>(), tools, std::nullopt,
                                                    1)),
      writer_(coded_->picture, tools, nullptr, BlockWriter(coder_, models_, coded_->tally)),
      fragment_{0, 0, tools.fragment_log2, tools.fragment_log2} {
    models_.start();
}

void PlanCoder::unpack(const BlockPlace& block) {
    if (coded_->picture.is_outside(block)) return;
    const uint16_t packed = *nodes_++;
    const BlockNode node{uint8_t(flag_of(packed)), uint8_t(mode_of(packed)),
                         uint8_t(kind_of(packed)), uint8_t(type_of(packed)),
                         uint32_t(plan_.levels.size())};
    plan_.nodes.push_back(node);
    if (node.flag != kLeaf) {
        unpack(half_of(block, node.flag, 0));
        unpack(half_of(block, node.flag, 1));
    } else if (node.kind == kTransformed) {
        const Scan& scan = scan_of(block.a, block.b);
        for (int row = 0; row < scan.rows; ++row) {
            const int16_t* from = levels_ + (block.row - fragment_.row + row) * kMaxSide +
                                  block.column - fragment_.column;
            plan_.levels.insert(plan_.levels.end(), from, from + scan.columns);
        }
    }
}

void PlanCoder::code(const uint16_t* nodes, const int16_t* levels) {
    nodes_ = nodes, levels_ = levels;
    plan_.clear();
    unpack(fragment_);
    writer_.code(fragment_.row, fragment_.column, plan_);
    fragment_.column += fragment_.width();
    if (fragment_.column >= plane_.width)
        fragment_.column = 0, fragment_.row += fragment_.height();
}

template <class Sample>
std::unique_ptr<CodedBlocks<Sample>> decode_blocks(const uint8_t* payload, size_t size,
                                                   Plane plane, Depth<Sample> depth,
                                                   const BlockTools& tools,
                                                   const std::optional<Tools>& tree_tools,
                                                   int threads, const Progress& progress) {
    // Only the learning of the dictionaries uses threads.
    auto coded = std::make_unique<CodedBlocks<Sample>>(plane, depth, tools, tree_tools,
                                                       tree_tools ? threads : 1);
    RangeDecoder coder(payload, size);
    BlockModels models;
    models.start();
    BlockCoder<BlockReader, Sample> reader(coded->picture, tools, coded->trees.get(),
                                           BlockReader(coder, models, coded->tally));
    const BlockPlan none;
    for_each_fragment(plane, tools, progress,
                      [&](int row, int column) { reader.code(row, column, none); });
    coder.finish();
    return coded;
}

#define MMP_INSTANTIATE(Sample)                                                                    \
    template struct CodedBlocks<Sample>;                                                           \
    template std::pair<std::vector<uint8_t>, std::unique_ptr<CodedBlocks<Sample>>> encode_blocks(  \
        const Sample*, Plane, Depth<Sample>, const BlockTools&, const std::optional<Tools>&,       \
        const BlockOptions&, const Progress&);                                                     \
    template std::unique_ptr<CodedBlocks<Sample>> decode_blocks(                                   \
        const uint8_t*, size_t, Plane, Depth<Sample>, const BlockTools&,                           \
        const std::optional<Tools>&, int, const Progress&);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
