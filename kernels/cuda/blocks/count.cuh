// Adapts the models to a plan in the same way as the host's coder.
#pragma once

#include "cuda/blocks/memory.cuh"

namespace mmp {

// Adapts the models to the levels of a block, given in scan order.
__device__ inline void count_levels(BlockModels& models, LevelScan& scan, const int16_t* levels) {
    const int a = scan.a, b = scan.b, area = scan.area;
    int last = scan.count() - 1;
    while (!levels[last]) --last;
    const int group = floor_log2(last + 1);
    for (int k = 0; k <= group && k < last_groups(a, b); ++k)
        models.bits[last_model(a, b, k)].count(k < group);
    if (group > 0) models.bits[last_bit_model(group)].count(((last + 1) >> (group - 1)) & 1);
    for (int k = last; k >= 0; --k) {
        const ScanPlace place = scan.at(k);
        const int size = abs(int(levels[k])), sum = scan.sum_around(place);
        scan.set(place, size);
        if (k < last) models.bits[zero_model(area, place.frequency, sum)].count(size > 0);
        if (size == 0) continue;
        models.bits[one_model(area, place.frequency, sum)].count(size > 1);
        if (size == 1) continue;
        models.bits[two_model(area, place.frequency, sum)].count(size > 2);
        if (size == 2) continue;
        const int digits = floor_log2(size - 2);
        for (int n = 0; n <= digits && n < kMostRemainder; ++n)
            models.bits[remainder_model(area, n)].count(n < digits);
    }
}

// Adapts the models to the plan of a fragment: thread 0 counts flags, modes, kinds and types; warp
// 1 counts levels.
__device__ inline void count_plan(BlockSearchMemory& memory) {
    BlockModels& models = memory.models;
    Canvas& canvas = memory.canvas;
    const BlockTables& tables = *memory.picture.tables;
    const bool partition = threadIdx.x == 0, levels = threadIdx.x / 32 == 1;
    if (!partition && !levels) return;
    BlockPlace waiting[kMostSplits + 2];
    int count = 1, next = 0;
    const int side = memory.picture.fragment_log2;
    waiting[0] = {0, 0, side, side};
    while (count > 0) {
        const BlockPlace block = waiting[--count];
        if (canvas.is_outside(block)) continue;
        const uint16_t node = memory.nodes[next++];
        const int flag = flag_of(node), a = block.a, b = block.b;
        const Unit above = partition ? unit_above(canvas, block) : Unit{};
        const Unit left = partition ? unit_left(canvas, block) : Unit{};
        const bool columns = may_split(block, kColumns), rows = may_split(block, kRows);
        if (partition && !canvas.forced_flag(block) && (columns || rows)) {
            models.bits[split_model(a, b, split_context(a, b, above, left))].count(flag != kLeaf);
            if (flag != kLeaf && columns && rows)
                models.bits[direction_model(a, b, direction_context(a, b, above, left))].count(
                    flag == kRows);
        }
        if (flag != kLeaf) {
            waiting[count++] = part_of(block, flag, 1);
            waiting[count++] = part_of(block, flag, 0);
            continue;
        }
        const int mode = mode_of(node), kind = kind_of(node);
        if (partition) {
            const int size = size_of(a, b);
            const LikelyModes likely = likely_modes(above, left, Unit{}, Unit{});
            models.count_mode(size, mode);
            if (likely.left == likely.above) {
                models.bits[likely_model(size, 1)].count(mode == likely.left);
            } else {
                models.bits[likely_model(size, 0)].count(mode == likely.left);
                if (mode != likely.left)
                    models.bits[likely_model(size, 2)].count(mode == likely.above);
            }
            models.bits[kind_model(a, b, kind_context(above, left))].count(kind);
            const Unit unit = leaf_unit(block, node);
            for (int i = 0; i < block.height(); i += kUnit)
                for (int j = 0; j < block.width(); j += kUnit)
                    canvas.unit(block.row + i, block.column + j) = unit;
        }
        if (kind != kTransformed) continue;
        if (partition && sine_allowed(a, b))
            models.bits[type_model(a, b, family_of(mode))].count(type_of(node));
        if (levels) {
            CountedLevels& room = memory.counted;
            LevelScan scan(tables, a, b, room.magnitudes);
            const int lane = threadIdx.x % 32, columns = scan.stride - 2;
            for (int k = lane; k < scan.count(); k += 32) {
                const int place = scan.at(k).place;
                room.levels[k] =
                    canvas.levels[block.row + place / columns][block.column + place % columns];
            }
            for (int i = lane; i < kMostMargins; i += 32) room.magnitudes[i] = 0;
            __syncwarp();
            if (lane == 0) count_levels(models, scan, room.levels);
            __syncwarp();
        }
    }
}

}  // namespace mmp
