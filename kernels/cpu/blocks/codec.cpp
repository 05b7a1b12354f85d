#include "cpu/blocks/codec.h"

#include <algorithm>

#include "cpu/blocks/builder.h"
#include "cpu/blocks/search/coarse.h"
#include "cpu/blocks/search/wavefront.h"
#include "cpu/runtime/ring_queue.h"

namespace mmp {

namespace {

int padded(int length) { return (length + kUnit - 1) / kUnit * kUnit; }

// Returns the tools that apply to this plane: border sines are on only for small planes.
BlockTools tools_of(const BlockTools& given, Plane plane) {
    BlockTools tools = given;
    if (!is_small(padded(plane.height), padded(plane.width))) tools.border_sines = 0;
    return tools;
}

// Reports progress in 16x16 fragments, whatever the fragment size, as the other codings do.
class FragmentProgress {
public:
    FragmentProgress(Plane plane, const BlockTools& tools, const Progress& progress)
        : plane_(plane), side_(1 << tools.fragment_log2), progress_(progress) {}

    // Reports the fragments that precede this one. Call before coding a fragment.
    void operator()(int row, int column) const {
        const int64_t rows = across(std::min(side_, plane_.height - row));
        progress_(row / 16 * across(plane_.width) + column / 16 * rows, total());
    }
    void end() const { progress_(total(), total()); }

private:
    static int64_t across(int length) { return (length + 15) / 16; }
    int64_t total() const { return across(plane_.height) * across(plane_.width); }

    const Plane plane_;
    const int side_;
    const Progress& progress_;
};

// Calls progress, then work(row, column), for each fragment in coding order.
template <class Work>
void for_each_fragment(Plane plane, const BlockTools& tools, const Progress& progress,
                       const Work& work) {
    const FragmentProgress report(plane, tools, progress);
    const int side = 1 << tools.fragment_log2;
    for (int row = 0; row < plane.height; row += side)
        for (int column = 0; column < plane.width; column += side) {
            report(row, column);
            work(row, column);
        }
    report.end();
}

// Searches fragments of several rows in parallel and codes them in order.
template <class Sample>
void encode_in_wavefront(const Sample* source, CodedBlocks<Sample>& coded, Plane plane,
                         const BlockTools& tools, const BlockOptions& options,
                         const std::vector<int64_t>& lambdas, const BlockWriter& writer,
                         const Progress& progress) {
    BlockPicture<Sample>& picture = coded.picture;
    // The coder writes its units to `behind`, because the search is ahead in the units of
    // `picture`.
    BlockUnits behind(picture.height, picture.width);
    BlockCoder<BlockWriter> coder(behind, tools, coded.changes, nullptr, writer);
    Wavefront<Sample> wavefront(source, picture, tools, options.effort, coded.changes, lambdas,
                                options.cell_weights, coded.team);
    const FragmentProgress report(plane, tools, progress);
    wavefront.run(options.threads, [&](int row, int column, const BlockPlan& plan) {
        report(row, column);
        coder.code(row, column, plan);
    });
    report.end();
}

// Searches and codes one fragment after the other, because the dictionaries learn from each.
// Threads share the search of one fragment.
template <class Sample>
void encode_with_trees(const Sample* source, CodedBlocks<Sample>& coded, Plane plane,
                       const BlockTools& tools, const BlockOptions& options,
                       const std::vector<int64_t>& lambdas, const BlockWriter& writer,
                       const Progress& progress) {
    BlockPicture<Sample>& picture = coded.picture;
    BlockCosts costs(picture.depth.extra(), tools.fine_contexts);
    BlockCoder<BlockWriter> coder(picture, tools, coded.changes, coded.trees.get(), writer);
    std::unique_ptr<BlockTreeSearch> tree_search;
    if constexpr (kIsByte<Sample>)
        tree_search = std::make_unique<BlockTreeSearch>(source, picture.height, picture.width,
                                                        *coded.trees, options.rates,
                                                        options.kernel, coded.team);
    const BlockPicture<Sample> coarse =
        coarsely_quantised(source, picture, tools, coded.changes, coded.team);
    BlockSearch<Sample> search(source, picture, coarse, tools, coded.changes, options.cell_weights,
                               options.effort, tree_search.get(), coded.team);
    BlockPlan plan;
    for_each_fragment(plane, tools, progress, [&](int row, int column) {
        costs.refresh(coded.models, lambdas[coded.changes.number(row, column)]);
        search.find(row, column, coded.models, costs, plan);
        search.write(picture);
        coder.code(row, column, plan);
        if constexpr (kIsByte<Sample>) coded.trees->learn(row, column, picture);
    });
}

// Most fragments whose symbols are read before their samples are rebuilt.
constexpr size_t kMostAhead = 64;

// Reads symbols on one thread of a team and rebuilds samples on another.
template <class Sample>
void read_ahead(Plane plane, const BlockTools& tools, const Progress& progress, ThreadTeam& team,
                BlockCoder<BlockReader>& reader, BlockBuilder<Sample>& builder) {
    RingQueue<BlockPlan> queue(kMostAhead);
    const auto read = [&](int row, int column) {
        reader.code(row, column, queue.room());
        queue.pass_on();
    };
    const auto build = [&](int row, int column) {
        builder.build(row, column, queue.next());
        queue.release();
    };
    // If both fail, the error of the first task is the one that a single thread would meet.
    team.run(2, [&](uint32_t task) {
        try {
            if (task == 0)
                for_each_fragment(plane, tools, progress, build);
            else
                for_each_fragment(plane, tools, [](int64_t, int64_t) {}, read);
        } catch (const RingQueue<BlockPlan>::Stopped&) {
        } catch (...) {
            queue.stop();
            throw;
        }
    });
}

}  // namespace

template <class Sample>
CodedBlocks<Sample>::CodedBlocks(Plane plane, Depth<Sample> depth, const BlockTools& tools,
                                 const std::optional<Tools>& tree_tools,
                                 const EarlierSamples<Sample>& earlier_samples, int threads)
    : earlier(earlier_samples, plane, padded(plane.height), padded(plane.width)),
      picture(padded(plane.height), padded(plane.width), depth, &earlier),
      changes(plane.height, plane.width, tools.fragment_log2),
      cells(plane.height, plane.width),
      team(threads),
      trees(tree_tools ? std::make_unique<BlockTrees>(plane, *tree_tools, tools.fragment_log2, team)
                       : nullptr) {
    start_models(tools, is_small(picture.height, picture.width), models);
}

template <class Sample>
std::pair<std::vector<uint8_t>, std::unique_ptr<CodedBlocks<Sample>>> encode_blocks(
    const Sample* samples, Plane plane, Depth<Sample> depth, const BlockTools& given,
    const std::optional<Tools>& tree_tools, const EarlierSamples<Sample>& earlier,
    const BlockOptions& options, const Progress& progress) {
    const BlockTools tools = tools_of(given, plane);
    auto coded = std::make_unique<CodedBlocks<Sample>>(plane, depth, tools, tree_tools, earlier,
                                                       options.threads);
    std::vector<int64_t> lambdas = options.lambdas;
    if (lambdas.empty())
        lambdas.assign(coded->changes.values().size(), options.rates.lambda_fixed);
    else
        coded->changes.values() = options.changes;
    const int height = coded->picture.height, width = coded->picture.width;
    std::vector<Sample> source(size_t(height) * width);
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column)
            source[size_t(row) * width + column] =
                samples[size_t(std::min(row, plane.height - 1)) * plane.width +
                        std::min(column, plane.width - 1)];
    RangeEncoder coder;
    BlockWriter writer(coder, coded->models, coded->tally, coded->cells);
    if (coded->trees)
        encode_with_trees(source.data(), *coded, plane, tools, options, lambdas, writer, progress);
    else
        encode_in_wavefront(source.data(), *coded, plane, tools, options, lambdas, writer,
                            progress);
    return {coder.finish(), std::move(coded)};
}

PlanCoder::PlanCoder(Plane plane, const BlockTools& tools, const std::vector<int8_t>& changes)
    : plane_(plane),
      tools_(tools),
      coded_(std::make_unique<CodedBlocks<uint8_t>>(plane, Depth<uint8_t>(), tools, std::nullopt,
                                                    EarlierSamples<uint8_t>(), 1)),
      writer_(coded_->picture, tools, coded_->changes, nullptr,
              BlockWriter(coder_, coded_->models, coded_->tally, coded_->cells)),
      fragment_{0, 0, tools.fragment_log2, tools.fragment_log2} {
    coded_->changes.values() = changes;
}

void PlanCoder::unpack(const BlockPlace& block) {
    if (coded_->picture.is_outside(block)) return;
    const uint16_t packed = *nodes_++;
    const BlockNode node{uint8_t(flag_of(packed)), uint8_t(mode_of(packed)),
                         uint8_t(kind_of(packed)), uint8_t(type_of(packed)),
                         uint32_t(plan_.levels.size())};
    plan_.nodes.push_back(node);
    if (node.flag != kLeaf) {
        for (int part = 0; part < parts_of(node.flag); ++part)
            unpack(part_of(block, node.flag, part));
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
                                                   const BlockTools& given,
                                                   const std::optional<Tools>& tree_tools,
                                                   const EarlierSamples<Sample>& earlier,
                                                   int threads, const Progress& progress,
                                                   bool traced, BitCounts* counts) {
    const BlockTools tools = tools_of(given, plane);
    // With a dictionary, threads share the learning; otherwise one reads symbols ahead.
    auto coded = std::make_unique<CodedBlocks<Sample>>(plane, depth, tools, tree_tools, earlier,
                                                       tree_tools ? threads : std::min(threads, 2));
    BlockPicture<Sample>& picture = coded->picture;
    BlockTrees* trees = coded->trees.get();
    RangeDecoder coder(payload, size);
    BlockUnits units(picture.height, picture.width);
    ReaderTrace trace{coded->tally, coded->cells, counts};
    BlockCoder<BlockReader> reader(
        units, tools, coded->changes, trees,
        BlockReader(coder, coded->models, traced || counts ? &trace : nullptr));
    BlockBuilder<Sample> builder(picture, tools, trees);
    if (!trees && threads > 1 && coded->changes.values().size() > 1) {
        read_ahead(plane, tools, progress, coded->team, reader, builder);
    } else {
        BlockPlan plan;
        for_each_fragment(plane, tools, progress, [&](int row, int column) {
            reader.code(row, column, plan);
            builder.build(row, column, plan);
            if constexpr (kIsByte<Sample>)
                if (trees) trees->learn(row, column, picture);
        });
    }
    coder.finish();
    return coded;
}

#define MMP_INSTANTIATE(Sample)                                                                    \
    template struct CodedBlocks<Sample>;                                                           \
    template std::pair<std::vector<uint8_t>, std::unique_ptr<CodedBlocks<Sample>>> encode_blocks(  \
        const Sample*, Plane, Depth<Sample>, const BlockTools&, const std::optional<Tools>&,       \
        const EarlierSamples<Sample>&, const BlockOptions&, const Progress&);                      \
    template std::unique_ptr<CodedBlocks<Sample>> decode_blocks(                                   \
        const uint8_t*, size_t, Plane, Depth<Sample>, const BlockTools&,                           \
        const std::optional<Tools>&, const EarlierSamples<Sample>&, int, const Progress&, bool,    \
        BitCounts*);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
