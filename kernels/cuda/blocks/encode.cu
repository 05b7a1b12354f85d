// The whole search loop for predicted blocks: pictures stay on the device from samples to plans.
#include "cuda/blocks/search.cuh"

namespace mmp {

// Brings the survey's rough costs of the fragment up to date with the models, each worker its share.
__device__ void price_rough(Worker& worker, int slot) {
    SearchMemory& memory = search_memory();
    const BlockPicture& picture = memory.picture;
    const BlockTables& tables = *picture.tables;
    const int side = 1 << picture.fragment_log2, rough = picture.rough;
    const int32_t least = least_coefficient(picture.step);
    const int threads = worker.workers * kBlockThreads;
    // Neighbours in the list, which have equally much to do, lie in one warp.
    const int lane = threadIdx.x % 32, warp = worker.number * kBlockWarps + threadIdx.x / 32;
    for (int i = warp * 32 + lane; i < kBlocks * rough; i += threads) {
        const int number = tables.by_area[i / rough], r = i % rough;
        const Place block = Place::of(number);
        const int a = block.a, b = block.b;
        if (block.row + block.height() > min(side, memory.canvas.rows) ||
            block.column + block.width() > min(side, memory.canvas.columns))
            continue;
        const int shape = shape_number(a, b);
        const int index = (block.row >> a) * (kMaxSide >> b) + (block.column >> b);
        const int64_t start = int64_t{r * kShapes + shape} * kMaxBlockArea + index * block.area();
        const int16_t* coefficients =
            picture.coefficients + int64_t{slot} * rough * kShapes * kMaxBlockArea + start;
        int16_t* levels = picture.levels + start;
        const int rows = min(block.height(), kCodedSide), columns = min(block.width(), kCodedSide);
        LevelScan scan(tables, a, b,
                       picture.magnitudes + int64_t{r * kShapes + shape} * kMarginArea +
                           index * (rows + 2) * (columns + 2));
        int top = rows * columns - 1;
        while (top >= 0 && abs(int(coefficients[top])) <= least) --top;
        const ChosenLevels chosen =
            choose_levels(scan, top, coefficients, picture.step, memory.costs, levels);
        const int64_t energy =
            int64_t{picture.energies[(int64_t{slot} * kBlocks + number) * rough + r]}
            << kCostFractionBits;
        const int32_t* kind_costs = memory.costs.bit[kind_model(a, b, 1)];
        int64_t cost = kind_costs[kBare] + energy;
        if (chosen.last >= 0) {
            int64_t kept = 0;  // energy that the levels take away, in 1/64
            for (int k = 0; k <= chosen.last; ++k) {
                if (!levels[k]) continue;
                const int64_t value = coefficients[k];
                const int64_t rest = value - dequantised(levels[k], picture.step);
                kept += value * value - rest * rest;
                scan.set(scan.at(k), 0);
            }
            // The basis is not quite orthonormal, so more may seem taken away than there was.
            const int64_t left = max(int64_t{0}, energy - (kept >> 2));
            cost = min(cost, kind_costs[kTransformed] + chosen.cost + left);
        }
        picture.rough_costs[number * kMostRough + r] = kModeBits * memory.costs.plain + cost;
    }
}

// Which ways of which blocks are worth a try.
__device__ void choose_worthwhile(Worker& worker, int slot) {
    SearchMemory& memory = search_memory();
    const BlockPicture& picture = memory.picture;
    const Canvas& canvas = memory.canvas;
    const int side = picture.fragment_log2;
    const uint64_t* modes = picture.modes + int64_t{slot} * kBlocks;
    if (threadIdx.x == 0) memory.modes = modes;
    int64_t *whole = memory.survey.whole, *least = memory.survey.least;
    const auto guess = [&](const Place& block, int split) {
        return guessed_split_cost(least[half_of(block, split, 0).number()] +
                                  least[half_of(block, split, 1).number()]);
    };
    for (int sum = 2 * kMinSideLog2; sum <= 2 * side; ++sum) {
        for (int i = threadIdx.x; i < kBlocks; i += kBlockThreads) {
            const Place block = Place::of(i);
            if (block.a + block.b != sum || block.a > side || block.b > side) continue;
            if (max(block.row, block.column) >= 1 << side) continue;
            if (outside(canvas, block)) {
                whole[i] = least[i] = 0;
                memory.worth[i] = 0;
                continue;
            }
            const int forced = forced_split(canvas, block);
            int64_t lowest = kNever;
            if (!forced) {
                for (int r = 0; r < picture.rough; ++r)
                    lowest = min(lowest, picture.rough_costs[i * kMostRough + r]);
            }
            whole[i] = lowest;
            for (int split = kSplitColumns; split <= kSplitRows; ++split)
                if (may_split(block, split)) lowest = min(lowest, guess(block, split));
            least[i] = lowest;
            const int64_t most = worthwhile_cost(lowest, picture.slack);
            int worth = whole[i] <= most;
            for (int split = kSplitColumns; split <= kSplitRows; ++split)
                if (may_split(block, split)) worth |= (guess(block, split) <= most) << split;
            if (forced) worth = 1 << forced;
            bool matched = (worth & 1) && modes[i] >> kTemplates & 1;
            for (int split = kSplitColumns; split <= kSplitRows; ++split)
                if (worth >> split & 1)
                    for (int half = 0; half < 2; ++half)
                        matched |= memory.worth[half_of(block, split, half).number()] >> kMatched & 1;
            memory.worth[i] = uint8_t(worth | matched << kMatched);
        }
        __syncthreads();
    }
}

// Counts what coding the levels of a block, in scan order, would code.
__device__ void count_levels(BlockModels& models, LevelScan& scan, const int16_t* levels) {
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

// Counts what coding the plan of a fragment codes: one thread the partition, modes and kinds, one
// warp the levels.
__device__ void count_plan(SearchMemory& memory) {
    BlockModels& models = memory.models;
    Canvas& canvas = memory.canvas;
    const BlockTables& tables = *memory.picture.tables;
    const bool partition = threadIdx.x == 0, levels = threadIdx.x / 32 == 1;
    if (!partition && !levels) return;
    Place waiting[kMostFrames + 1];
    int count = 1, next = 0;
    const int side = memory.picture.fragment_log2;
    waiting[0] = {0, 0, side, side};
    while (count > 0) {
        const Place block = waiting[--count];
        if (outside(canvas, block)) continue;
        const uint16_t node = memory.nodes[next++];
        const int split = split_of(node), a = block.a, b = block.b;
        const Unit above = partition ? unit_above(canvas, block) : Unit{};
        const Unit left = partition ? unit_left(canvas, block) : Unit{};
        const bool columns = may_split(block, kSplitColumns), rows = may_split(block, kSplitRows);
        if (partition && !forced_split(canvas, block) && (columns || rows)) {
            models.bits[split_model(a, b, split_context(a, b, above, left))].count(split != kWhole);
            if (split != kWhole && columns && rows)
                models.bits[direction_model(a, b, direction_context(a, b, above, left))].count(
                    split == kSplitRows);
        }
        if (split != kWhole) {
            waiting[count++] = half_of(block, split, 1);
            waiting[count++] = half_of(block, split, 0);
            continue;
        }
        const int mode = mode_of(node), kind = kind_of(node);
        if (partition) {
            const int size = size_of(a, b);
            const LikelyModes likely = likely_modes(above, left);
            models.count_mode(size, mode);
            if (likely.left == likely.above) {
                models.bits[likely_model(size, 1)].count(mode == likely.left);
            } else {
                models.bits[likely_model(size, 0)].count(mode == likely.left);
                if (mode != likely.left)
                    models.bits[likely_model(size, 2)].count(mode == likely.above);
            }
            models.bits[kind_model(a, b, kind_context(above, left))].count(kind);
            Unit unit;
            unit.a = uint8_t(a), unit.b = uint8_t(b);
            unit.mode = uint8_t(mode), unit.kind = uint8_t(kind);
            for (int i = 0; i < block.height(); i += kUnit)
                for (int j = 0; j < block.width(); j += kUnit)
                    canvas.unit(block.row + i, block.column + j) = unit;
        }
        if (kind != kTransformed) continue;
        if (partition && sine_allowed(a, b))
            models.bits[type_model(a, b, family_of(mode))].count(type_of(node));
        if (levels) {
            Candidate& room = memory.candidates[0];
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

// Takes the best plan of a fragment: learns from it, and the first worker writes it.
__device__ void take_plan(Worker& worker, const uint8_t* record, int fragment, int row, int column) {
    SearchMemory& memory = search_memory();
    const BlockPicture& picture = memory.picture;
    Canvas& canvas = memory.canvas;
    const int side = picture.fragment_log2;
    const Place block{0, 0, side, side};
    const RecordLayout layout(side, side);
    const int count = reinterpret_cast<const Record*>(record)->nodes;
    const uint16_t* nodes = reinterpret_cast<const uint16_t*>(record + layout.nodes);
    for (int i = threadIdx.x; i < count; i += kBlockThreads) memory.nodes[i] = nodes[i];
    show(memory, block, record);
    if (worker.number == 0) {
        uint16_t* plan = picture.plan_nodes + int64_t{fragment} * kPlanNodes;
        for (int i = threadIdx.x; i < count; i += kBlockThreads) plan[i] = nodes[i];
        if (threadIdx.x == 0) picture.plan_counts[fragment] = count;
        int16_t* levels = picture.plan_levels + int64_t{fragment} * kMaxBlockArea;
        for (int i = threadIdx.x; i < kMaxBlockArea; i += kBlockThreads) {
            levels[i] = (&canvas.levels[0][0])[i];
            const int y = i / kMaxSide, x = i % kMaxSide;
            if (max(y, x) >= 1 << side || y >= canvas.rows || x >= canvas.columns) continue;
            picture.samples[int64_t{row + y} * picture.width + column + x] = *canvas.sample(y, x);
            if (y % kUnit == 0 && x % kUnit == 0)
                picture.units[int64_t{(row + y) / kUnit} * (picture.width / kUnit) +
                              (column + x) / kUnit] = canvas.unit(y, x);
        }
        __syncthreads();
    }
    mark(canvas, block, Unit{});
    __syncthreads();
    count_plan(memory);
    __syncthreads();
}

}  // namespace mmp

using namespace mmp;

// Of a state; of what a worker finds; of its shared memory with one candidate, and of each more.
extern "C" __device__ int64_t block_bytes[] = {sizeof(BlockState), worker_bytes(), search_bytes(1),
                                               sizeof(Candidate)};

// Grid: pictures.
extern "C" __global__ void start_models(BlockState* states) {
    if (threadIdx.x == 0) states[blockIdx.x].models.start();
}

// Searches fragments `first` to `last` - 1 of each picture, which were surveyed, and writes their
// plans. Grid: (workers of a picture, a power of two; pictures), all resident at once,
// two on a multiprocessor.
extern "C" __global__ void __launch_bounds__(kBlockThreads, 2)
    search_blocks(BlockState* states, int first, int last) {
    SearchMemory& memory = search_memory();
    BlockState& state = states[blockIdx.y];
    for (int i = threadIdx.x; i < int(sizeof(BlockPicture) / 8); i += kBlockThreads)
        reinterpret_cast<uint64_t*>(&memory.picture)[i] =
            reinterpret_cast<const uint64_t*>(&state.picture)[i];
    for (int i = threadIdx.x; i < int(sizeof(BlockModels) / 2); i += kBlockThreads)
        reinterpret_cast<uint16_t*>(&memory.models)[i] =
            reinterpret_cast<const uint16_t*>(&state.models)[i];
    if (threadIdx.x == 0) {
        const BlockPicture& given = state.picture;
        uint8_t* end = given.findings + (blockIdx.x + 1) * given.worker_bytes;
        memory.window = given.templates ? end - kWindowBytes : nullptr;
        uint32_t start = kBlocks * sizeof(Findings);
        for (int a = kMinSideLog2; a <= kMaxSideLog2; ++a)
            for (int b = kMinSideLog2; b <= kMaxSideLog2; ++b) {
                const int shape = shape_number(a, b), size = RecordLayout(a, b).size;
                memory.record_start[shape] = start;
                memory.record_size[shape] = size;
                start += uint32_t(kSlots * size) << (2 * kMaxSideLog2 - a - b);
            }
    }
    __syncthreads();
    const BlockPicture& picture = memory.picture;
    uint32_t barriers[2 * kMostWorkers] = {};
    Worker worker{state, int(blockIdx.x), int(gridDim.x), barriers};
    Search search(worker);
    const int side = 1 << picture.fragment_log2;
    const int across = (picture.width + side - 1) / side;
    last = min(last, across * ((picture.height + side - 1) / side));
    for (int fragment = first; fragment < last; ++fragment) {
        const int row = fragment / across * side, column = fragment % across * side;
        memory.costs.refresh(memory.models, picture.rates, picture.lambda_fixed);
        start_canvas(memory, row, column);
        price_rough(worker, fragment - first);
        worker.meet(0, worker.workers);
        choose_worthwhile(worker, fragment - first);
        take_plan(worker, search.run(), fragment, row, column);
        worker.meet(0, worker.workers);
    }
    if (worker.number) return;
    for (int i = threadIdx.x; i < int(sizeof(BlockModels) / 2); i += kBlockThreads)
        reinterpret_cast<uint16_t*>(&state.models)[i] =
            reinterpret_cast<const uint16_t*>(&memory.models)[i];
}
