// Decides which flags of the blocks of a fragment are worth a trial, from the survey and the
// models.
#pragma once

#include "cuda/blocks/search/records.cuh"

namespace mmp {

// Estimates the costs of the survey's modes with the current models; each worker takes a share.
__device__ inline void price_rough(Worker& worker, int slot) {
    BlockSearchMemory& memory = search_memory();
    const BlockPicture& picture = memory.picture;
    const SearchRoom& room = memory.room;
    const BlockTables& tables = *picture.tables;
    const int side = 1 << picture.fragment_log2, rough = picture.rough;
    const int32_t least = least_coefficient(picture.step);
    const int threads = worker.workers * kBlockThreads;
    // Neighbours in the list have equal areas, so the threads of a warp do equal work.
    const int lane = threadIdx.x % 32, warp = worker.number * kBlockWarps + threadIdx.x / 32;
    for (int i = warp * 32 + lane; i < kBlocks * rough; i += threads) {
        const int number = tables.by_area[i / rough], r = i % rough;
        const BlockPlace block = block_of(number);
        const int a = block.a, b = block.b;
        if (block.row + block.height() > min(side, memory.canvas.rows) ||
            block.column + block.width() > min(side, memory.canvas.columns))
            continue;
        const int shape = shape_number(a, b);
        const int index = (block.row >> a) * (kMaxSide >> b) + (block.column >> b);
        const int64_t start = int64_t{r * kShapes + shape} * kMaxBlockArea + index * block.area();
        const int16_t* coefficients =
            room.coefficients + int64_t{slot} * rough * kShapes * kMaxBlockArea + start;
        int16_t* levels = room.levels + start;
        const int rows = min(block.height(), kCodedSide), columns = min(block.width(), kCodedSide);
        LevelScan scan(tables, a, b,
                       room.magnitudes + int64_t{r * kShapes + shape} * kMarginArea +
                           index * (rows + 2) * (columns + 2));
        int top = rows * columns - 1;
        while (top >= 0 && abs(int(coefficients[top])) <= least) --top;
        const ChosenLevels chosen =
            choose_levels(scan, top, coefficients, picture.step, memory.costs, levels);
        const int64_t energy =
            int64_t{room.energies[(int64_t{slot} * kBlocks + number) * rough + r]}
            << kCostFractionBits;
        const int32_t* kind_costs = memory.costs.bit[kind_model(a, b, 1)];
        int64_t cost = kind_costs[kBare] + energy;
        if (chosen.last >= 0) {
            int64_t kept = 0;  // energy that the levels code, in 1/64 squared error
            for (int k = 0; k <= chosen.last; ++k) {
                if (!levels[k]) continue;
                const int64_t value = coefficients[k];
                const int64_t rest = value - dequantised(levels[k], picture.step);
                kept += value * value - rest * rest;
                scan.set(scan.at(k), 0);
            }
            // The integer basis is not quite orthonormal, so `kept` can exceed the energy.
            const int64_t left = max(int64_t{0}, energy - (kept >> 2));
            cost = min(cost, kind_costs[kTransformed] + chosen.cost + left);
        }
        room.rough_costs[number * kMostRough + r] = kModeBits * memory.costs.plain + cost;
    }
}

// Sets memory.worth of all blocks: the flags whose guessed cost is close enough to the least.
__device__ inline void choose_worthwhile(Worker& worker, int slot) {
    BlockSearchMemory& memory = search_memory();
    const BlockPicture& picture = memory.picture;
    const SearchRoom& room = memory.room;
    const Canvas& canvas = memory.canvas;
    const int side = picture.fragment_log2;
    const uint64_t* modes = room.modes + int64_t{slot} * kBlocks;
    if (threadIdx.x == 0) memory.modes = modes;
    int64_t *whole = memory.survey.whole, *least = memory.survey.least;
    const auto guess = [&](const BlockPlace& block, int flag) {
        return guessed_split_cost(least[block_number(half_of(block, flag, 0))] +
                                  least[block_number(half_of(block, flag, 1))]);
    };
    for (int sum = 2 * kMinSideLog2; sum <= 2 * side; ++sum) {
        for (int i = threadIdx.x; i < kBlocks; i += kBlockThreads) {
            const BlockPlace block = block_of(i);
            if (block.a + block.b != sum || block.a > side || block.b > side) continue;
            if (max(block.row, block.column) >= 1 << side) continue;
            if (canvas.is_outside(block)) {
                whole[i] = least[i] = 0;
                memory.worth[i] = 0;
                continue;
            }
            const int forced = canvas.forced_flag(block);
            int64_t lowest = kNever;
            if (!forced) {
                for (int r = 0; r < picture.rough; ++r)
                    lowest = min(lowest, room.rough_costs[i * kMostRough + r]);
            }
            whole[i] = lowest;
            for (int flag = kColumns; flag <= kRows; ++flag)
                if (may_split(block, flag)) lowest = min(lowest, guess(block, flag));
            least[i] = lowest;
            const int64_t most = worthwhile_cost(lowest, picture.slack);
            int worth = whole[i] <= most;
            for (int flag = kColumns; flag <= kRows; ++flag)
                if (may_split(block, flag)) worth |= (guess(block, flag) <= most) << flag;
            if (forced) worth = 1 << forced;
            bool matched = (worth & 1) && modes[i] >> kTemplates & 1;
            for (int flag = kColumns; flag <= kRows; ++flag)
                for (int half = 0; half < 2 && worth >> flag & 1; ++half) {
                    const int part = block_number(half_of(block, flag, half));
                    matched |= memory.worth[part] >> kMatched & 1;
                }
            memory.worth[i] = uint8_t(worth | matched << kMatched);
        }
        __syncthreads();
    }
}

}  // namespace mmp
