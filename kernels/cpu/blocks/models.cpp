#include "cpu/blocks/models.h"

#include <stdlib.h>

#include <algorithm>

#include "cpu/runtime/simd.h"
#include "shared/blocks/dependent.h"
#include "shared/tables.h"

namespace mmp {

namespace {

// Three adjacent rows above a block, or three adjacent columns left of it.
constexpr int kLines = 3, kMostLine = 2 * kMaxSide + kLines;
using Lines = int32_t[kLines][kMostLine];

// Adds the gradients at `count` places of the middle line, from its second sample on, to a
// histogram by angle.
MMP_SIMD_LEVELS void add_gradients(const Lines& lines, int count, bool columns,
                                   int32_t* by_angle) {
    int32_t sizes[kMostLine], angles[kMostLine];
    const int32_t *before = lines[0], *here = lines[1], *after = lines[2];
    for (int k = 0; k < count; ++k) {
        const int32_t along = before[k + 2] + 2 * here[k + 2] + after[k + 2] -
                              (before[k] + 2 * here[k] + after[k]);
        const int32_t across = after[k] + 2 * after[k + 1] + after[k + 2] -
                               (before[k] + 2 * before[k + 1] + before[k + 2]);
        const int32_t x = std::abs(columns ? across : along);
        const int32_t y = std::abs(columns ? along : across);
        const int32_t large = x > y ? x : y, small = 64 * (x > y ? y : x);
        int32_t turn = (small >= 2 * large) + (small >= 7 * large) + (small >= 14 * large) +
                       (small >= 22 * large) + (small >= 30 * large) + (small >= 38 * large) +
                       (small >= 47 * large) + (small >= 58 * large);
        turn = (along ^ across) < 0 ? -turn : turn;
        angles[k] = x >= y ? kVertical + turn : kHorizontal - turn;
        sizes[k] = x + y;
    }
    for (int k = 0; k < count; ++k) by_angle[angles[k]] += sizes[k];
}

}  // namespace

template <class Sample>
AngleWeights angle_weights(const BlockPicture<Sample>& picture, const BlockPlace& block, int above,
                           int left) {
    constexpr int kMargin = 2;  // number of extra bins before the first and after the last angle
    int32_t by_angle[kMargin + kAngles + kMargin] = {};
    Lines lines;
    if (above) {
        const int first = left ? -kLines : 0;
        for (int line = 0; line < kLines; ++line)
            std::copy_n(picture.at(block.row - kLines + line, block.column + first), above - first,
                        lines[line]);
        add_gradients(lines, above - first - 2, false, by_angle + kMargin);
    }
    if (left) {
        const int first = above ? 1 - kLines : 0;
        for (int i = first; i < left; ++i) {
            const Sample* row = picture.at(block.row + i, block.column - kLines);
            for (int line = 0; line < kLines; ++line) lines[line][i - first] = row[line];
        }
        add_gradients(lines, left - first - 2, true, by_angle + kMargin);
    }
    int64_t total = 0;
    for (const int32_t size : by_angle) total += size;
    AngleWeights weights;
    weights.fill(kLeastWeight);
    for (int angle = 0; total && angle < kAngles; ++angle) {
        const int32_t* near = by_angle + kMargin + angle;
        const int32_t nearby = near[-2] + 2 * near[-1] + 3 * near[0] + 2 * near[1] + near[2];
        if (nearby) weights[angle] = uint8_t(angle_weight(nearby, total));
    }
    return weights;
}

static_assert(sizeof kInitialStates == kStartClasses * kTableBytes);
static_assert(sizeof kSmallInitialStates == sizeof kInitialStates);

void start_models(const BlockTools& tools, bool small, BlockModels& models) {
    if (!tools.initial_states) return models.start();
    const uint8_t* tables = small ? kSmallInitialStates : kInitialStates;
    const uint8_t* states = tables + start_class(independent_step(tools)) * kTableBytes;
    models.start(states, states + kStartBytes);
}

uint32_t weigh_modes(const BlockModels& models, int size, LikelyModes likely, uint64_t allowed,
                     const AngleWeights* angles, uint32_t* weights) {
    uint32_t total = 0;
    for (int mode = 0; mode < kModes; ++mode)
        total += weights[mode] =
            angles ? models.mode_weight(size, mode, likely, allowed, angles->data())
                   : models.mode_weight(size, mode, likely, allowed);
    return total;
}

template AngleWeights angle_weights(const BlockPicture<uint8_t>&, const BlockPlace&, int, int);
template AngleWeights angle_weights(const BlockPicture<uint16_t>&, const BlockPlace&, int, int);

}  // namespace mmp
