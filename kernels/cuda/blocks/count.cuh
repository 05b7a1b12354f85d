// Adapts the models to a plan in the same way as the host's coder.
#pragma once

#include "cuda/blocks/memory.cuh"

namespace mmp {

// Counts symbols, where a coder would write them.
class SymbolCounter {
public:
    static constexpr bool kWrites = true;
    __device__ explicit SymbolCounter(BlockModels& models) : models_(models) {}

    __device__ BlockModels& models() { return models_; }
    __device__ int bit(int model, int value) {
        models_.bits[model].count(value);
        return value;
    }
    __device__ int mean_bit(int model, int other, int value) {
        models_.bits[other].count(value);
        return bit(model, value);
    }
    __device__ int plain(int, int value) { return value; }
    __device__ int other(int, const LikelyModes&, uint64_t, int mode) { return mode; }
    __device__ bool check(bool, const char*, const char*, int, int, int = 0) { return true; }
    __device__ void check_mode(int, uint64_t) {}
    __device__ void take(int, int, bool, int, bool) {}

private:
    BlockModels& models_;
};

// The levels of a block, in scan order, as code_levels() visits them.
template <bool kFineContexts, bool kDependentLevels>
class CountedScan {
public:
    static constexpr bool kFine = kFineContexts, kDependent = kDependentLevels;

    __device__ explicit CountedScan(LevelScan& scan) : scan_(scan) {}
    __device__ int count() const { return scan_.count(); }
    __device__ int at(int k) const { return k; }
    __device__ int place(int k) const { return k; }
    __device__ LevelModels models(int k, int state) const {
        const ScanPlace at = scan_.at(k);
        const int sum = scan_.sum_around(at), quantiser = quantiser_of(state);
        if (!kFine) return LevelModels::coarse(scan_.area, at.frequency, sum, quantiser);
        const int i = at.place >> scan_.columns_log2;
        const int j = at.place & ((1 << scan_.columns_log2) - 1);
        return LevelModels::fine(scan_.area, direction_of(scan_.family, i, j), fine_frequency(i, j),
                                 sum_class(sum), quantiser);
    }
    __device__ int next(int state, int size) const {
        return kDependent ? next_state(state, size) : 0;
    }
    __device__ void add(int k, int size) { scan_.set(scan_.at(k), size); }

private:
    LevelScan& scan_;
};

template <bool kFine, bool kDependent>
__device__ void count_levels_by(BlockModels& models, LevelScan& own, const int16_t* levels) {
    CountedScan<kFine, kDependent> scan(own);
    SymbolCounter counter(models);
    code_levels(scan, counter, own.a, own.b, levels);
}

// Adapts the models to the levels of a block, given in scan order.
__device__ inline void count_levels(BlockModels& models, const BlockTools& tools, LevelScan& scan,
                                    const int16_t* levels) {
    if (tools.fine_contexts && tools.dependent)
        count_levels_by<true, true>(models, scan, levels);
    else if (tools.fine_contexts)
        count_levels_by<true, false>(models, scan, levels);
    else if (tools.dependent)
        count_levels_by<false, true>(models, scan, levels);
    else
        count_levels_by<false, false>(models, scan, levels);
}

// Adapts the models to the symbols of a leaf before its levels. `allowed` needs the modes from
// earlier planes alone.
__device__ inline void count_leaf(BlockModels& models, const BlockTools& tools,
                                  const BlockPlace& block, uint64_t allowed,
                                  const LikelyModes& likely, const Unit& above, const Unit& left,
                                  uint16_t node) {
    SymbolCounter counter(models);
    const int a = block.a, b = block.b, mode = mode_of(node), kind = kind_of(node);
    code_mode(counter, size_of(a, b), allowed, likely, planes_context(above, left), mode);
    counter.bit(kind_model(a, b, kind_context(above, left)), kind);
    if (kind == kTransformed) code_type(counter, tools, a, b, family_of(mode), type_of(node));
}

// Adapts the models to the plan of a fragment: thread 0 counts flags, modes, kinds and types; warp
// 1 counts levels.
__device__ inline void count_plan(BlockSearchMemory& memory) {
    BlockModels& models = memory.models;
    const BlockTools& tools = memory.picture.tools;
    Canvas& canvas = memory.canvas;
    const BlockTables& tables = *memory.picture.tables;
    const bool partition = threadIdx.x == 0, levels = threadIdx.x / 32 == 1;
    if (!partition && !levels) return;
    BlockPlace waiting[2 * kMostSplits + 1];
    int count = 1, next = 0;
    const int side = tools.fragment_log2;
    waiting[0] = {0, 0, side, side};
    while (count > 0) {
        const BlockPlace block = waiting[--count];
        if (canvas.is_outside(block)) continue;
        const uint16_t node = memory.nodes[next++];
        const int flag = flag_of(node), a = block.a, b = block.b;
        if (partition) {
            const Unit above = unit_above(canvas, block), left = unit_left(canvas, block);
            SymbolCounter counter(models);
            if (!canvas.forced_flag(block)) code_flag(counter, tools, block, above, left, flag);
            if (flag == kLeaf) {
                const BlockPlace placed{canvas.row + block.row, canvas.column + block.column, a, b};
                count_leaf(models, tools, block, planes_modes(tools, placed),
                           likely_modes(above, left, Unit{}, Unit{}), above, left, node);
                const Unit unit = leaf_unit(block, node);
                for (int i = 0; i < block.height(); i += kUnit)
                    for (int j = 0; j < block.width(); j += kUnit)
                        canvas.unit(block.row + i, block.column + j) = unit;
            }
        }
        if (flag != kLeaf) {
            for (int part = parts_of(flag) - 1; part >= 0; --part)
                waiting[count++] = part_of(block, flag, part);
            continue;
        }
        if (!levels || kind_of(node) != kTransformed) continue;
        CountedLevels& room = memory.counted;
        LevelScan scan(tables, a, b, family_of(mode_of(node)), room.magnitudes);
        const int lane = threadIdx.x % 32, columns_log2 = scan.columns_log2;
        for (int k = lane; k < scan.count(); k += 32) {
            const int place = scan.at(k).place;
            room.levels[k] = canvas.levels[block.row + (place >> columns_log2)]
                                          [block.column + (place & ((1 << columns_log2) - 1))];
        }
        for (int i = lane; i < kMostMargins; i += 32) room.magnitudes[i] = 0;
        __syncwarp();
        if (lane == 0) count_levels(models, tools, scan, room.levels);
        __syncwarp();
    }
}

}  // namespace mmp
