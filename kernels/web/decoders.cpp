// The functions that mmpcodec/web/mmp.wasm exports: one for each coding of the format.
//
// Pointers are to arrays in the module's memory, from mmp_take, which the caller fills and frees.
// Samples are uint8_t at a depth of 8, else uint16_t, except that lossless samples are uint16_t
// always.
#include <stdlib.h>

#include <algorithm>
#include <optional>

#include "cpu/blocks/codec.h"
#include "cpu/lossless/codec.h"
#include "cpu/trees/decoder.h"
#include "web/export.h"

namespace {

using namespace mmp;

const Progress kNoProgress = [](int64_t, int64_t) {};

// Numbers in the order of the macros of shared/tools.h.
#define MMP_NEXT_TOOL(name, low, high) *numbers++,
Tools tree_tools(const int32_t* numbers) { return {MMP_TREE_TOOLS(MMP_NEXT_TOOL)}; }
BlockTools block_tools(const int32_t* numbers) {
    const int32_t size = *numbers;
    return {MMP_BLOCK_TOOLS(MMP_NEXT_TOOL) 31 - __builtin_clz(static_cast<uint32_t>(size))};
}

// A payload of predicted blocks and all that its decoding needs.
struct Job {
    const uint8_t* payload;
    size_t size;
    Plane plane;
    BlockTools tools;
    std::optional<Tools> trees;
    const void* const* earlier;
};

template <class Sample>
void blocks(const Job& job, Depth<Sample> depth, Sample* out, int8_t* changes) {
    EarlierSamples<Sample> earlier;
    for (int i = 0; i < job.tools.cross_component; ++i)
        earlier.push_back(static_cast<const Sample*>(job.earlier[i]));
    const auto coded = decode_blocks(job.payload, job.size, job.plane, depth, job.tools, job.trees,
                                     earlier, 1, kNoProgress);
    for (int row = 0; row < job.plane.height; ++row)
        out = std::copy_n(coded->picture.at(row, 0), job.plane.width, out);
    const auto& values = coded->changes.values();
    std::copy(values.begin(), values.end(), changes);
}

}  // namespace

// Returns `size` bytes of memory, aligned to 16.
MMP_EXPORT(mmp_take) void* mmp_take(size_t size) {
    return ::operator new(size, std::align_val_t{16});
}

MMP_EXPORT(mmp_free) void mmp_free(void* memory) { free(memory); }

MMP_EXPORT(mmp_trees)
void mmp_trees(const uint8_t* payload, size_t size, int height, int width, const int32_t* tools,
               uint8_t* out) {
    const Plane plane{height, width};
    decode(payload, size, plane, tree_tools(tools), 1, kNoProgress)->copy_samples(plane, out);
}

// `trees` is null without a dictionary. `changes` has a number for each fragment.
MMP_EXPORT(mmp_blocks)
void mmp_blocks(const uint8_t* payload, size_t size, int height, int width, int depth,
                const int32_t* tools, const int32_t* trees, const void* const* earlier, void* out,
                int8_t* changes) {
    Job job{payload, size, {height, width}, block_tools(tools), std::nullopt, earlier};
    if (trees) job.trees = tree_tools(trees);
    if (depth == 8)
        blocks(job, Depth<uint8_t>(), static_cast<uint8_t*>(out), changes);
    else
        blocks(job, Depth<uint16_t>(depth), static_cast<uint16_t*>(out), changes);
}

// The tools are predictors, models, weight sets, last stage and max error.
MMP_EXPORT(mmp_lossless)
void mmp_lossless(const uint8_t* payload, size_t size, int planes, int height, int width, int depth,
               const int32_t* tools, uint16_t* out) {
    const LosslessTools own{tools[0], tools[1], tools[2], tools[3] != 0, tools[4]};
    LosslessRates rates;
    decode_lossless(payload, size, {planes, height, width, depth}, own, 1, out, kNoProgress, rates);
}
