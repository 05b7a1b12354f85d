// Decides from the rough search and the models which flags of the blocks of a fragment are worth a
// trial.
#pragma once

#include "cuda/blocks/memory.cuh"

namespace mmp {

// RD cost of a block by a mode of the rough search, with levels chosen under the current models.
__device__ inline int64_t chosen_cost(const BlockSearchMemory& memory, const BlockPlace& block,
                                      int64_t energy, const int16_t* coefficients) {
    const SearchRoom& room = memory.room;
    const int a = block.a, b = block.b, step = independent_step(memory.picture.tools);
    int16_t* levels = room.levels + threadIdx.x * kMaxCoded;
    LevelScan scan(*memory.picture.tables, a, b, kSmooth,
                   room.magnitudes + threadIdx.x * kMostMargins);
    const int32_t least = least_coefficient(step);
    int top = min(block.height(), kCodedSide) * min(block.width(), kCodedSide) - 1;
    while (top >= 0 && abs(int(coefficients[top])) <= least) --top;
    const ChosenLevels chosen =
        choose_levels(scan, top, coefficients, step, memory.costs, levels);
    if (chosen.last < 0) return kNever;
    int64_t kept = 0;  // energy that the levels represent, in 1/64 squared error
    for (int k = 0; k <= chosen.last; ++k) {
        if (!levels[k]) continue;
        const int64_t value = coefficients[k];
        const int64_t rest = value - dequantised(levels[k], step);
        kept += value * value - rest * rest;
        scan.set(scan.at(k), 0);
    }
    const Canvas& canvas = memory.canvas;
    const int weight = weight_in(memory.picture, {canvas.row + block.row,
                                                  canvas.column + block.column, a, b});
    return residual_cost(chosen.cost, energy,
                         weighed(memory.picture.depth.of_coefficients(kept), weight));
}

// Estimates the costs of the rough search's modes under the current models.
__device__ inline void price_rough(BlockSearchMemory& memory, int slot) {
    const BlockPicture& picture = memory.picture;
    const SearchRoom& room = memory.room;
    const BlockTables& tables = *picture.tables;
    const int rough = picture.effort.rough;
    // Adjacent blocks in the list have equal areas, so the threads of a warp do equal work (no
    // divergence).
    for (int i = threadIdx.x; i < kBlocks * rough; i += kBlockThreads) {
        const int number = tables.by_area[i / rough], r = i % rough;
        const BlockPlace block = block_of(number);
        if (!is_rough_searched(picture, block, memory.canvas.rows, memory.canvas.columns)) continue;
        const int64_t first = int64_t{slot} * kBlocks + number;
        int64_t& cost = memory.found->rough.of_modes[number][r];
        const int modes = room.rough_modes[first].count;
        cost = modes ? kNever : kSkipped;
        if (r >= modes) continue;
        const RoughResidual residual = room.residuals[first * rough + r];
        const int64_t energy = residual.energy;
        int64_t coded;
        if (picture.effort.rounded) {
            coded = residual_cost(estimated_rate(residual.bits, memory.costs.plain), energy,
                                  residual.kept);
        } else {
            const int64_t shape =
                (int64_t{slot} * rough + r) * kShapes + shape_number(block.a, block.b);
            coded = chosen_cost(memory, block, energy,
                                room.coefficients + shape * kShapeArea + place_in_shape(block));
        }
        const int32_t* kind_costs = memory.costs.bit()[kind_model(block.a, block.b, 1)];
        cost = kModeBits * memory.costs.plain +
               min(kind_costs[kBare] + energy, kind_costs[kTransformed] + coded);
    }
    __syncthreads();
}

// Estimated cost of a split.
__device__ inline int64_t estimated_split(const BlockSearchMemory& memory, const BlockPlace& block,
                                          int flag) {
    int64_t parts = 0;
    for (int part = 0; part < parts_of(flag); ++part)
        parts += memory.found->rough.least[block_number(part_of(block, flag, part))];
    return guessed_split_cost(parts) +
           int64_t{memory.picture.effort.split_bits} * memory.costs.plain;
}

// Sets memory.worth of all blocks: the flags whose estimated cost is close enough to the least one.
__device__ inline void choose_worthwhile(BlockSearchMemory& memory, int slot) {
    const BlockPicture& picture = memory.picture;
    const SearchRoom& room = memory.room;
    const Canvas& canvas = memory.canvas;
    const int side = picture.tools.fragment_log2;
    const uint64_t* modes = room.modes + int64_t{slot} * kBlocks;
    if (threadIdx.x == 0) memory.modes = modes;
    int64_t *whole = memory.found->rough.whole, *least = memory.found->rough.least;
    const auto guess = [&](const BlockPlace& block, int flag) {
        return estimated_split(memory, block, flag);
    };
    for (int sum = 2 * kMinSideLog2; sum <= 2 * side; ++sum) {
        for (int i = threadIdx.x; i < kBlocks; i += kBlockThreads) {
            const BlockPlace block = block_of(i);
            if (block.a + block.b != sum || block.a > side || block.b > side) continue;
            if (block.row + block.height() > 1 << side || block.column + block.width() > 1 << side ||
                (!has_ternary(picture) && !is_aligned(block)))
                continue;
            if (canvas.is_outside(block)) {
                whole[i] = least[i] = 0;
                memory.worth[i] = 0;
                continue;
            }
            const int forced = canvas.forced_flag(block);
            int64_t lowest = kNever;
            const bool rough_modes = is_rough_searched(picture, block, canvas.rows, canvas.columns);
            if (rough_modes) {
                for (int r = 0; r < picture.effort.rough; ++r)
                    lowest = min(lowest, memory.found->rough.of_modes[i][r]);
            }
            whole[i] = lowest;
            const BlockEffort& effort = picture.effort;
            const int last = has_ternary(picture) ? kThreeRows : kRows;
            for (int flag = kColumns; flag <= last; ++flag)
                if (may_follow(block, flag, effort)) lowest = min(lowest, guess(block, flag));
            least[i] = lowest;
            const int slack = is_aligned(block) ? effort.slack : min(effort.slack, effort.ternary);
            const int64_t most = worthwhile_cost(lowest, slack);
            const int64_t most_ternary = worthwhile_cost(lowest, effort.ternary);
            int worth = whole[i] <= most;
            for (int flag = kColumns; flag <= last; ++flag)
                if (may_follow(block, flag, effort))
                    worth |= (guess(block, flag) <= (is_ternary(flag) ? most_ternary : most)) << flag;
            if (forced) worth = 1 << forced;
            bool matched = (worth & 1) && rough_modes && modes[i] >> kTemplates & 1;
            for (int flag = kColumns; flag <= last; ++flag)
                for (int part = 0; part < parts_of(flag) && worth >> flag & 1; ++part) {
                    const int number = block_number(part_of(block, flag, part));
                    matched |= memory.worth[number] >> kMatched & 1;
                }
            memory.worth[i] = uint8_t(worth | matched << kMatched);
        }
        __syncthreads();
    }
}

}  // namespace mmp
