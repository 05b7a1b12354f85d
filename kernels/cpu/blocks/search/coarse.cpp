#include "cpu/blocks/search/coarse.h"

#include <stdlib.h>

#include <algorithm>

#include "cpu/blocks/search/trial.h"

namespace mmp {

namespace {

constexpr int kSideLog2 = 4, kSide = 1 << kSideLog2, kArea = kSide * kSide;

template <class Sample>
void quantise_coarsely(const Sample* source, int32_t step, Depth<Sample> depth, Sample* out) {
    Sample flat[kArea];
    std::fill_n(flat, kArea, Sample(depth.middle()));
    int16_t residual[kArea], coefficients[kArea], levels[kArea];
    subtract(source, flat, kArea, depth, residual);
    transform_forward(residual, kSideLog2, kSideLog2, {}, seen_bits(depth), coefficients);
    for (int i = 0; i < kArea; ++i) {
        const int size = std::abs(coefficients[i]);
        const int level = smaller((40 * size + 7 * step) / (20 * step), kMaxLevel);
        levels[i] = int16_t(coefficients[i] < 0 ? -level : level);
    }
    dequantise(levels, kArea, step, coefficients);
    transform_inverse(coefficients, extent_of(coefficients, kSideLog2, kSideLog2), kSideLog2,
                      kSideLog2, {}, flat, depth, out, kSide);
}

}  // namespace

template <class Sample>
BlockPicture<Sample> coarsely_quantised(const Sample* source, const BlockPicture<Sample>& like,
                                        const BlockTools& tools, const StepChanges& changes,
                                        ThreadTeam& team) {
    const int height = like.height, width = like.width;
    const Depth<Sample> depth = like.depth;
    BlockPicture<Sample> coarse(height, width, depth, like.earlier);
    // Each task covers several rows of blocks, because a team runs at most kMostTasks tasks.
    const int rows = (height / ThreadTeam::kMostTasks + kSide) / kSide * kSide;
    team.run(uint32_t((height + rows - 1) / rows), [&](uint32_t task) {
        const int first = int(task) * rows, end = std::min(first + rows, height);
        Sample block[kArea], out[kArea];
        for (int row = first; row < end; row += kUnit)
            for (int column = 0; column < width; column += kUnit)
                coarse.mark({row, column, kUnitLog2, kUnitLog2},
                            {kUnitLog2, kUnitLog2, kConstant, kBare});
        for (int row = first; row < end; ++row)
            coarse.write(row, 0, source + size_t(row) * width, width);
        for (int row = first; row + kSide <= end; row += kSide)
            for (int column = 0; column + kSide <= width; column += kSide) {
                const BlockPlace place{row, column, kSideLog2, kSideLog2};
                const int32_t own = step_at(tools.step, changes.at(row, column));
                const int32_t step = independent_step(own, tools.dependent);
                take_block(source, width, place, block);
                quantise_coarsely(block, step, depth, out);
                coarse.write(place, out);
            }
    });
    return coarse;
}

#define MMP_INSTANTIATE(Sample)                                                                  \
    template BlockPicture<Sample> coarsely_quantised(const Sample*, const BlockPicture<Sample>&, \
                                                     const BlockTools&, const StepChanges&,      \
                                                     ThreadTeam&);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
