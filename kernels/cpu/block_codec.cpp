#include "block_codec.h"

#include <algorithm>

#include "block_search.h"

namespace mmp {

namespace {

int padded(int length) { return (length + kUnit - 1) / kUnit * kUnit; }

std::unique_ptr<CodedBlocks> nothing_coded(Plane plane) {
    return std::unique_ptr<CodedBlocks>(
        new CodedBlocks{BlockPicture(padded(plane.height), padded(plane.width)), {}});
}

// Calls work(row, column) for each fragment in coding order, and progress once a row. What it
// counts are 16x16 fragments, as everywhere.
template <class Work>
void for_each_fragment(Plane plane, const BlockTools& tools, const Progress& progress,
                       const Work& work) {
    const auto across = [](int length) { return int64_t{(length + 15) / 16}; };
    const int64_t total = across(plane.height) * across(plane.width);
    const int side = 1 << tools.fragment_log2;
    for (int row = 0; row < plane.height; row += side) {
        progress(row / 16 * across(plane.width), total);
        for (int column = 0; column < plane.width; column += side) work(row, column);
    }
    progress(total, total);
}

}  // namespace

std::pair<std::vector<uint8_t>, std::unique_ptr<CodedBlocks>> encode_blocks(
    const uint8_t* samples, Plane plane, const BlockTools& tools, const BlockOptions& options,
    const Progress& progress) {
    auto coded = nothing_coded(plane);
    const int height = coded->picture.height, width = coded->picture.width;
    std::vector<uint8_t> source(size_t(height) * width);
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column)
            source[size_t(row) * width + column] =
                samples[size_t(std::min(row, plane.height - 1)) * plane.width +
                        std::min(column, plane.width - 1)];
    ThreadTeam team(options.threads);
    RangeEncoder coder;
    BlockModels models;
    BlockCosts costs;
    BlockPlan plan;
    BlockCoder<BlockWriter> writer(coded->picture, tools,
                                   BlockWriter(coder, models, coded->tally));
    BlockSearch search(source.data(), coded->picture, tools, options.effort, team);
    for_each_fragment(plane, tools, progress, [&](int row, int column) {
        costs.refresh(models, options.lambda_fixed);
        search.find(row, column, models, costs, plan);
        search.write(coded->picture);
        writer.code(row, column, plan);
    });
    return {coder.finish(), std::move(coded)};
}

std::unique_ptr<CodedBlocks> decode_blocks(const uint8_t* payload, size_t size, Plane plane,
                                           const BlockTools& tools, const Progress& progress) {
    auto coded = nothing_coded(plane);
    RangeDecoder coder(payload, size);
    BlockModels models;
    BlockCoder<BlockReader> reader(coded->picture, tools,
                                   BlockReader(coder, models, coded->tally));
    const BlockPlan none;
    for_each_fragment(plane, tools, progress,
                      [&](int row, int column) { reader.code(row, column, none); });
    coder.finish();
    return coded;
}

}  // namespace mmp
