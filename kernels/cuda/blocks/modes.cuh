// Promising modes of a block: coding cost, prediction and estimated cost of each. All threads of a
// worker call each function, unless its comment says otherwise.
#pragma once

#include "cuda/blocks/memory.cuh"
#include "cuda/blocks/prediction.cuh"
#include "cuda/blocks/templates.cuh"

namespace mmp {

// Bit mask of the modes that the format allows for a block.
__device__ inline uint64_t allowed_modes(const BlockSearchMemory& memory, int row, int column, int a,
                                         int b) {
    const BlockTools& tools = memory.picture.tools;
    const auto decoded = [&](int y, int x) { return is_decoded(memory, y, x); };
    const uint64_t matched = tools.templates && templates_allowed(decoded, row, column, a, b);
    return ((uint64_t{1} << kTemplates) - 1) | matched << kTemplates |
           planes_modes(tools, {row, column, a, b});
}

// Writes the promising modes to trial.modes, and their costs in both units to the other arrays of
// the trial. The first warp calls it.
__device__ inline void price_modes(BlockSearchMemory& memory, const BlockPlace& block,
                                   uint64_t promising, const LikelyModes& likely,
                                   uint64_t allowed, int planes_context) {
    const BlockPicture& picture = memory.picture;
    const int lane = threadIdx.x, size = size_of(block.a, block.b);
    uint32_t total = 0;
    for (int mode = lane; mode < kModes; mode += 32)
        total += memory.models.mode_weight(size, mode, likely, allowed);
    total = warp_sum(total);
    const BitCosts& bit = memory.costs.bit();
    const int32_t(*likely_costs)[2] = &bit[likely_model(size, 0)];
    const bool same = likely.left == likely.above;
    const int32_t* planes = bit[planes_model(size, planes_context)];
    const int32_t* wide = bit[wide_cross_component_model(size)];
    for (int mode = lane; mode < kAllModes; mode += 32) {
        if (!(promising >> mode & 1)) continue;
        int32_t cost;
        if (from_planes(mode)) {
            cost = allowed >> kWideCrossComponent ? wide[mode == kWideCrossComponent] : 0;
        } else if (mode == likely.left) {
            cost = likely_costs[same][1];
        } else if (mode == likely.above) {
            cost = likely_costs[0][0] + likely_costs[2][1];
        } else {
            const uint32_t weight = memory.models.mode_weight(size, mode, likely, allowed);
            const int32_t rate = __ldg(picture.rates + total) - __ldg(picture.rates + weight);
            cost = (same ? likely_costs[1][0] : likely_costs[0][0] + likely_costs[2][0]) +
                   int32_t(lagrangian(rate, picture.lambda_fixed));
        }
        if (allowed >> kCrossComponent) cost += planes[from_planes(mode)];
        const int place = __popcll(promising & ((uint64_t{1} << mode) - 1));
        memory.trial.modes[place] = uint8_t(mode);
        memory.trial.mode_costs[place] = cost;
        memory.trial.sayings[place] = mode_estimate(0, cost, picture.root);
        memory.trial.sums[place] = 0;
    }
    if (lane == 0) memory.trial.count = __popcll(promising);
}
// Searches for the best places of template matching. All warps call it; the first one does not take
// part, because it prices the modes.
__device__ inline void search_templates(BlockSearchMemory& memory, const WindowPlaces& places,
                                        int row, int column, int a, int b) {
    const int searcher = int(threadIdx.x / 32) - 1;
    if (searcher < 0) return;
    const int top = memory.canvas.row, right = memory.picture.width, end = decoded_end(memory);
    const auto end_of = [&](int y) {
        const int within = __shfl_sync(kAllLanes, end, max(0, y - top) / kUnit);
        return y < top ? right : within;
    };
    search_places(places, end_of, row, column, a, b, searcher, kSearchers,
                  memory.templates[searcher]);
}

// What cross-component prediction reads in the search of a fragment.
struct CanvasPlanes {
    const Canvas& canvas;
    const BlockPicture& picture;

    __device__ int own(int row, int column) const {
        return canvas.at(row - canvas.row, column - canvas.column);
    }
    __device__ int earlier(int which, int row, int column) const {
        return earlier_sample(picture, which, row, column);
    }
};

// Predicts a block by the promising modes from earlier planes.
__device__ inline void predict_from_planes(BlockSearchMemory& memory, const BlockPlace& block,
                                           uint64_t promising) {
    const Canvas& canvas = memory.canvas;
    const BlockPicture& picture = memory.picture;
    const BlockPlace placed{canvas.row + block.row, canvas.column + block.column, block.a, block.b};
    for (int mode = kCrossComponent; mode < kAllModes; ++mode) {
        if (!(promising >> mode & 1)) continue;
        const PlanesPrediction prediction(memory.fit, CanvasPlanes{canvas, picture},
                                          picture.tools.cross_component, picture.depth.bits,
                                          placed, mode);
        Sample* out = memory.planes->slow[mode - kTemplates];
        for (int i = threadIdx.x; i < block.area(); i += kBlockThreads)
            out[i] = Sample(prediction(i >> block.b, i & (block.width() - 1)));
        __syncthreads();
    }
}

// Lists the promising modes of a block and prepares their predictions: references, reference lines
// of the angles, and the predictions by the slow modes.
__device__ inline void prepare_modes(BlockSearchMemory& memory, const BlockPlace& block,
                                     const LikelyModes& likely) {
    Canvas& canvas = memory.canvas;
    TrialMemory& trial = memory.trial;
    const int a = block.a, b = block.b, warp = threadIdx.x / 32;
    const int row = canvas.row + block.row, column = canvas.column + block.column;
    const uint64_t allowed = allowed_modes(memory, row, column, a, b);
    const uint64_t promising = promising_modes(memory.modes[block_number(block)], likely, allowed);
    const bool matching = promising >> kTemplates & 1;
    const WindowPlaces places{memory.window, memory.deep_window, canvas.row, canvas.column};
    if (warp == 0)
        price_modes(memory, block, promising, likely, allowed,
                    planes_context(unit_above(canvas, block), unit_left(canvas, block)));
    if (warp == 1) {
        const int units = (block.height() + block.width()) / kUnit;
        const int over = known_units(canvas, block.row - 1, block.column, 0, kUnit, units);
        const int beside = known_units(canvas, block.row, block.column - 1, kUnit, 0, units);
        gather_references(canvas, block.row, block.column, a, b, over * kUnit, beside * kUnit,
                          memory.picture.tools.pdpc, memory.picture.depth, memory.predict);
    }
    if (matching) search_templates(memory, places, row, column, a, b);
    __syncthreads();
    if (matching)
        average_places(places, row, column, a, b, memory.picture.tools.templates, kSearchers,
                       memory.templates, memory.planes->slow[0]);
    predict_from_planes(memory, block, promising);
    const int count = trial.count;
    for (int n = warp; n < count; n += kBlockWarps) {
        const int angle = angle_of(trial.modes[n]);
        if (angle < 0) continue;
        for (int k = line_start(angle, a, b) + threadIdx.x % 32; k < line_end(a, b); k += 32)
            memory.lines[n].samples[k] = line_sample(memory.predict, angle, a, b, k);
    }
    __syncthreads();
}

// Computes twice the SATD of each promising mode.
__device__ inline void compare_modes(BlockSearchMemory& memory, const BlockPlace& block) {
    TrialMemory& trial = memory.trial;
    const int a = block.a, b = block.b, count = trial.count, pieces_log2 = a + b - 2 * kUnitLog2;
    const auto source = [&](int i, int j) { return memory.source_at(block, i, j); };
    for (int i = threadIdx.x; i < count << pieces_log2; i += kBlockThreads) {
        const int number = i >> pieces_log2, n = i & ((1 << pieces_log2) - 1);
        const int y = (n >> (b - kUnitLog2)) * kUnit, x = (n << kUnitLog2) & (block.width() - 1);
        const int mode = trial.modes[number];
        const int sum = piece_difference(mode, memory.predict, memory.lines[number],
                                         memory.planes->slow[0], a, b, y, x, source);
        add_by_key(trial.sums, number, sum, pieces_log2 >= 5);
    }
    __syncthreads();
}

// Ranks the modes by estimated cost. Returns the number of modes to try in full.
__device__ inline int rank_modes(BlockSearchMemory& memory) {
    const BlockPicture& picture = memory.picture;
    TrialMemory& trial = memory.trial;
    const int count = trial.count;
    const int halved = 1 + picture.depth.coarser();
    const auto estimate = [&](int n) { return (trial.sums[n] >> halved) + trial.sayings[n]; };
    if (threadIdx.x < count) {
        const int own = estimate(threadIdx.x);
        int rank = 0;
        for (int other = 0; other < count; ++other) {
            const int its = estimate(other);
            rank += its < own || (its == own && other < int(threadIdx.x));
        }
        trial.ranked[rank] = uint8_t(threadIdx.x);
    }
    __syncthreads();
    const int64_t hopeless = hopeless_estimate(estimate(trial.ranked[0]), picture.root);
    int tried = 1;
    while (tried < min(count, picture.effort.tried) && estimate(trial.ranked[tried]) <= hopeless) ++tried;
    return tried;
}

}  // namespace mmp
