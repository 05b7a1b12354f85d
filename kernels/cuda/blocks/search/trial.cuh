// Trials of a block as a leaf: the best modes are tried in full, and the cheapest becomes a record.
// A candidate is a mode; a trial is one transform type of a candidate. All threads of a worker call
// each function.
#pragma once

#include "cuda/blocks/modes.cuh"
#include "cuda/blocks/search/records.cuh"
#include "cuda/blocks/transform.cuh"

namespace mmp {

// Sizes of a block's trials, as log2. Trial t is candidate t >> types_log2 with type t & (types -
// 1).
struct TrialShape {
    int a, b, types_log2;        // height, width, types
    int rows_log2, columns_log2;  // size of the coded coefficients

    __device__ explicit TrialShape(const BlockPlace& block)
        : a(block.a),
          b(block.b),
          types_log2(sine_allowed(a, b)),
          rows_log2(min(a, kCodedSideLog2)),
          columns_log2(min(b, kCodedSideLog2)) {}
    __device__ int types() const { return 1 << types_log2; }
    __device__ int candidate(int t) const { return t >> types_log2; }
    __device__ int type(int t) const { return t & (types() - 1); }
    __device__ int area_log2() const { return a + b; }
    __device__ int coded_log2() const { return rows_log2 + columns_log2; }
    // Whether each warp stays within one candidate when threads visit the samples of all candidates
    // in order.
    __device__ bool uniform() const { return a + b >= 5; }
};

// Costs of a candidate without its levels, in 1/16 squared error.
struct CandidateCosts {
    int64_t flag;
    const int32_t* kind;  // of kBare and of kTransformed
    const BlockCosts* bits;

    __device__ int64_t mode(const TrialMemory& trial, int n) const {
        return flag + trial.mode_costs[trial.ranked[n]];
    }
    // RD cost of the prediction without a residual.
    __device__ int64_t bare(const TrialMemory& trial, int n) const {
        return mode(trial, n) + kind[kBare] + (int64_t{trial.bare[n]} << kCostFractionBits);
    }
    // Cost of the symbols of a trial before its levels.
    __device__ int64_t transformed(const TrialMemory& trial, const TrialShape& shape, int t) const {
        const int n = shape.candidate(t);
        const int64_t cost = mode(trial, n) + kind[kTransformed];
        if (shape.types() == 1) return cost;
        const int family = family_of(trial.modes[trial.ranked[n]]);
        return cost + bits->bit[type_model(shape.a, shape.b, family)][shape.type(t)];
    }
};

// Cost of the flag of a block; 0 if the border of the picture forces it.
__device__ inline int64_t flag_cost(BlockSearchMemory& memory, const BlockPlace& block, int flag) {
    Canvas& canvas = memory.canvas;
    if (canvas.forced_flag(block)) return 0;
    return flag_cost(memory.costs.bit, block, flag, unit_above(canvas, block),
                     unit_left(canvas, block));
}

// Writes the predictions of the best candidates and clears the sums of their trials.
template <class Candidate>
__device__ void predict_candidates(BlockSearchMemory& memory, const BlockPlace& block,
                                          int tried) {
    TrialMemory& trial = memory.trial;
    const int a = block.a, b = block.b, pieces_log2 = a + b - 2 * kUnitLog2;
    if (threadIdx.x < kMostTried) trial.bare[threadIdx.x] = 0;
    if (threadIdx.x < kMostTrials) {
        trial.distortions[threadIdx.x] = 0;
        trial.trials[threadIdx.x].top = -1;
        trial.trials[threadIdx.x].rounded = {};
    }
    for (int i = threadIdx.x; i < tried << pieces_log2; i += kBlockThreads) {
        const int number = i >> pieces_log2, n = i & ((1 << pieces_log2) - 1);
        const int y = (n >> (b - kUnitLog2)) * kUnit, x = (n << kUnitLog2) & (block.width() - 1);
        const int listed = trial.ranked[number], mode = trial.modes[listed];
        write_piece(mode, memory.predict, memory.lines[listed], memory.planes->matched, a, b,
                    y, x, candidate_of<Candidate>(memory, number).prediction);
    }
    __syncthreads();
}

// Sums the squared errors of the predictions and transforms the residuals, in scan order.
template <class Candidate>
__device__ void transform_candidates(BlockSearchMemory& memory, const BlockPlace& block,
                                            const TrialShape& shape, int tried) {
    const BlockTables& tables = *memory.picture.tables;
    TrialMemory& trial = memory.trial;
    const int a = shape.a, b = shape.b, area = block.area(), width = block.width();
    const int trials = tried << shape.types_log2;
    for (int i = threadIdx.x; i < tried << (a + b); i += kBlockThreads) {
        const int n = i >> (a + b), at = i & (area - 1);
        const int difference = memory.source_at(block, at >> b, at & (width - 1)) -
                               candidate_of<Candidate>(memory, n).prediction[at];
        add_by_key(trial.bare, n, difference * difference, shape.uniform());
    }
    constexpr int kWords = sizeof(Candidate::magnitudes) / 4;
    for (int i = threadIdx.x; i < tried * kWords; i += kBlockThreads)
        reinterpret_cast<uint32_t*>(candidate_of<Candidate>(memory, i / kWords).magnitudes)
            [i % kWords] = 0;
    const int half_log2 = shape.rows_log2 + b;
    for (int i = threadIdx.x; i < trials << half_log2; i += kBlockThreads) {
        const int t = i >> half_log2, at = i & ((1 << half_log2) - 1);
        const int type = shape.type(t);
        Candidate& candidate = candidate_of<Candidate>(memory, shape.candidate(t));
        const auto residual = [&](int y, int x) {
            return memory.source_at(block, y, x) - candidate.prediction[(y << b) + x];
        };
        candidate.half[type * Candidate::kSecond + at] =
            column_frequency(tables, residual, a, type, at >> b, at & (width - 1));
    }
    __syncthreads();
    const BlockTools& tools = memory.picture.tools;
    const int32_t least =
        tools.dependent ? first_coefficient(tools.step) : least_coefficient(tools.step);
    const int32_t step = independent_step(tools);
    const bool guesses = memory.picture.effort.hopeless < kAlways;
    const uint16_t* order = tables.order[shape_number(a, b)];
    const int columns_log2 = shape.columns_log2, coded_log2 = shape.coded_log2();
    for (int i = threadIdx.x; i < trials << coded_log2; i += kBlockThreads) {
        const int t = i >> coded_log2, at = i & ((1 << coded_log2) - 1);
        const int type = shape.type(t), second = type * Candidate::kSecond;
        Candidate& candidate = candidate_of<Candidate>(memory, shape.candidate(t));
        const int16_t value =
            coefficient_of(tables, candidate.half + second, b, type, at >> columns_log2,
                           at & ((1 << columns_log2) - 1));
        const int number = __ldg(order + at);
        candidate.coefficients[second + number] = value;
        candidate.levels[second + number] = 0;
        if (abs(int(value)) > least) atomicMax(&trial.trials[t].top, number);
        if (guesses)
            trial.trials[t].rounded.add(value, number, step, coded_log2);
    }
    __syncthreads();
}

// Number of lanes of a warp with a smaller value.
__device__ inline int rank_of(int64_t value) {
    int rank = 0;
    for (int lane = 0; lane < 32; ++lane)
        rank += __shfl_sync(kAllLanes, value, lane) < value;
    return rank;
}

// Early termination: sets `top` of the trials with a hopeless estimated cost to -1.
__device__ inline void drop_hopeless(BlockSearchMemory& memory, const TrialShape& shape,
                                     const CandidateCosts& costs, int tried) {
    TrialMemory& trial = memory.trial;
    const int t = threadIdx.x, n = shape.candidate(t);
    const bool there = t < tried << shape.types_log2;
    if (t < 32) {
        int64_t bare = kNever, estimate = kNever;
        if (there) {
            const RoundedLevels& rounded = trial.trials[t].rounded;
            const int64_t energy = int64_t{trial.bare[n]} << kCostFractionBits;
            bare = costs.bare(trial, n);
            estimate = costs.transformed(trial, shape, t) +
                       residual_cost(estimated_rate(rounded.rate(), memory.costs.plain), energy,
                                     rounded.energy());
        }
        const BlockEffort& effort = memory.picture.effort;
        const int64_t least = int64_t(warp_min(uint64_t(min(bare, estimate))));
        bool drops = estimate > hopeless_cost(least, effort.hopeless);
        if (memory.picture.tools.dependent) drops |= rank_of(estimate) >= effort.trellised;
        if (there) trial.trials[t].estimate = estimate;
        if (there && drops) trial.trials[t].top = -1;
    }
    __syncthreads();
}

// Chooses the levels of each trial, one group of threads per trial; marks trials whose rate alone
// reaches the bound or exceeds the cost of a candidate without a residual.
template <class Candidate>
__device__ void choose_trial_levels(BlockSearchMemory& memory, const TrialShape& shape,
                                           const CandidateCosts& costs, int tried, int64_t bound) {
    TrialMemory& trial = memory.trial;
    const int a = shape.a, b = shape.b, trials = tried << shape.types_log2;
    const BlockTools& tools = memory.picture.tools;
    const int lanes = tools.dependent ? kQuantiserStates
                                      : 1 << min(shape.rows_log2, shape.columns_log2);
    // Distributes the trials over the warps.
    const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / lanes;
    for (int first = warp; first < trials; first += kBlockThreads / lanes) {
        const int own = first + group * kBlockWarps;
        const bool there = own < trials;
        const int t = there ? own : first;
        const int n = shape.candidate(t), type = shape.type(t);
        const int second = type * Candidate::kSecond;
        Candidate& candidate = candidate_of<Candidate>(memory, n);
        const int mode = trial.modes[trial.ranked[n]];
        LevelScan scan(*memory.picture.tables, a, b, family_of(mode),
                       candidate.magnitudes + type * Candidate::kSecondMargin);
        const int top = there ? trial.trials[t].top : -1;
        const int16_t* coefficients = candidate.coefficients + second;
        int16_t* levels = candidate.levels + second;
        ChosenLevels chosen;
        if (tools.dependent)
            chosen = Trellis(*memory.picture.tables, scan, coefficients, top + 1, tools.step,
                             memory.costs, memory.planes->trellis[t])
                         .choose(levels);
        else
            chosen = choose_levels_together(scan, lanes, top, coefficients, tools.step,
                                            memory.costs, levels);
        if (!there || threadIdx.x % lanes) continue;
        TransformTrial& mine = trial.trials[t];
        mine.cost = kNever;
        if (chosen.last >= 0) mine.cost = costs.transformed(trial, shape, t) + chosen.cost;
        bool beaten = mine.cost >= bound;
        for (int other = 0; other <= n; ++other) beaten |= mine.cost > costs.bare(trial, other);
        mine.skipped = beaten;
    }
    __syncthreads();
}

// Returns a reconstructed sample of a trial, from the prediction and the inverse column transform.
template <class Candidate>
__device__ int rebuilt_sample(BlockSearchMemory& memory, const TrialShape& shape, int t, int at) {
    const Candidate& candidate = candidate_of<Candidate>(memory, shape.candidate(t));
    const int a = shape.a, b = shape.b, type = shape.type(t);
    const int residual =
        residual_sample(*memory.picture.tables, candidate.half + type * Candidate::kSecond, a, b,
                        type, at >> b, at & ((1 << b) - 1));
    return max(0, min(255, candidate.prediction[at] + residual));
}

// Computes the inverse transforms of the trials and sums their squared errors.
template <class Candidate>
__device__ void rebuild_trials(BlockSearchMemory& memory, const BlockPlace& block,
                                      const TrialShape& shape, int tried) {
    const BlockPicture& picture = memory.picture;
    const BlockTables& tables = *picture.tables;
    TrialMemory& trial = memory.trial;
    const int a = shape.a, b = shape.b, area = block.area(), width = block.width();
    const int trials = tried << shape.types_log2;
    const int columns_log2 = shape.columns_log2, coded_log2 = shape.coded_log2();
    for (int i = threadIdx.x; i < trials << coded_log2; i += kBlockThreads) {
        const int t = i >> coded_log2, at = i & ((1 << coded_log2) - 1);
        if (trial.trials[t].skipped) continue;
        Candidate& candidate = candidate_of<Candidate>(memory, shape.candidate(t));
        const int second = shape.type(t) * Candidate::kSecond;
        const int number = __ldg(&tables.order[shape_number(a, b)][at]);
        const int level = candidate.levels[second + number];
        int32_t value = 0;
        if (level && picture.tools.dependent) {
            const int quantiser = memory.planes->trellis[t].decisions[number][0];
            value = dependent_value(abs(level), quantiser, picture.tools.step);
            value = level < 0 ? -value : value;
        } else if (level) {
            value = dequantised(level, picture.tools.step);
        }
        candidate.coefficients[second + at] = int16_t(value);
    }
    __syncthreads();
    const int columns_area_log2 = a + columns_log2;
    for (int i = threadIdx.x; i < trials << columns_area_log2; i += kBlockThreads) {
        const int t = i >> columns_area_log2, at = i & ((1 << columns_area_log2) - 1);
        if (trial.trials[t].skipped) continue;
        Candidate& candidate = candidate_of<Candidate>(memory, shape.candidate(t));
        const int type = shape.type(t), second = type * Candidate::kSecond;
        candidate.half[second + at] =
            column_sample(tables, candidate.coefficients + second, a, b, type, at >> columns_log2,
                          at & ((1 << columns_log2) - 1));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < trials << (a + b); i += kBlockThreads) {
        const int t = i >> (a + b), at = i & (area - 1);
        int difference = 0;
        if (!trial.trials[t].skipped)
            difference = memory.source_at(block, at >> b, at & (width - 1)) -
                         rebuilt_sample<Candidate>(memory, shape, t, at);
        add_by_key(trial.distortions, t, difference * difference, shape.uniform());
    }
    __syncthreads();
}

// Writes the cheapest candidate or trial to trial.best, trial.cost and trial.node. trial.best is -1
// if none costs less than the bound.
__device__ inline void take_cheapest(BlockSearchMemory& memory, const TrialShape& shape,
                                     const CandidateCosts& costs, int tried, int64_t bound) {
    TrialMemory& trial = memory.trial;
    const int types = shape.types();
    if (threadIdx.x == 0) {
        trial.cost = bound;
        trial.best = -1;
        for (int n = 0; n < tried; ++n) {
            const int mode = trial.modes[trial.ranked[n]];
            const int64_t bare = costs.bare(trial, n);
            if (bare < trial.cost) {
                trial.cost = bare;
                trial.best = n * types;
                trial.node = pack_block(kLeaf, mode, kBare, 0);
            }
            for (int type = 0; type < types; ++type) {
                const int t = n * types + type;
                const int64_t cost =
                    trial.trials[t].cost + (int64_t{trial.distortions[t]} << kCostFractionBits);
                if (trial.trials[t].skipped || cost >= trial.cost) continue;
                if (memory.picture.tools.dependent && memory.picture.effort.hopeless < kAlways &&
                    trial.trials[t].estimate / 100 * kTrellisPercent >= trial.cost)
                    continue;
                trial.cost = cost;
                trial.best = t;
                trial.node = pack_block(kLeaf, mode, kTransformed, type);
            }
        }
    }
    __syncthreads();
}

// Writes the cheapest trial as a record.
template <class Candidate>
__device__ void record_leaf(BlockSearchMemory& memory, const BlockPlace& block,
                                   const TrialShape& shape, uint8_t* record) {
    const TrialMemory& trial = memory.trial;
    const int a = shape.a, b = shape.b, area = block.area(), width = block.width();
    const int columns_log2 = shape.columns_log2;
    const RecordLayout layout(a, b);
    const uint16_t node = trial.node;
    const int t = trial.best;
    const Candidate& candidate = candidate_of<Candidate>(memory, shape.candidate(t));
    const int16_t* chosen = candidate.levels + shape.type(t) * Candidate::kSecond;
    const uint16_t* order = memory.picture.tables->order[shape_number(a, b)];
    const bool transformed = kind_of(node) == kTransformed;
    uint8_t* samples = record + layout.samples;
    int16_t* levels = reinterpret_cast<int16_t*>(record + layout.levels);
    for (int i = threadIdx.x; i < area; i += kBlockThreads) {
        samples[i] = transformed ? uint8_t(rebuilt_sample<Candidate>(memory, shape, t, i))
                                 : candidate.prediction[i];
        const int y = i >> b, x = i & (width - 1);
        const bool coded = transformed && y < 1 << shape.rows_log2 && x < 1 << columns_log2;
        levels[i] = coded ? chosen[__ldg(order + (y << columns_log2) + x)] : int16_t{0};
    }
    Unit* units = reinterpret_cast<Unit*>(record + layout.units);
    for (int i = threadIdx.x; i < area / (kUnit * kUnit); i += kBlockThreads)
        units[i] = leaf_unit(block, node);
    if (threadIdx.x == 0) {
        *reinterpret_cast<uint16_t*>(record + layout.nodes) = node;
        Record& head = *reinterpret_cast<Record*>(record);
        head.cost = trial.cost;
        head.nodes = 1;
    }
    __syncthreads();
}

// Tries the `tried` best modes of a block in full. Returns the least cost; if it is below the
// bound, makes a record.
template <class Candidate>
__device__ int64_t try_candidates(BlockSearchMemory& memory, const BlockPlace& block, int tried,
                                  const CandidateCosts& costs, int64_t bound, uint8_t* record) {
    const TrialShape shape(block);
    predict_candidates<Candidate>(memory, block, tried);
    transform_candidates<Candidate>(memory, block, shape, tried);
    if (memory.picture.effort.hopeless < kAlways) drop_hopeless(memory, shape, costs, tried);
    choose_trial_levels<Candidate>(memory, shape, costs, tried, bound);
    rebuild_trials<Candidate>(memory, block, shape, tried);
    take_cheapest(memory, shape, costs, tried, bound);
    if (memory.trial.best < 0) return kNever;
    record_leaf<Candidate>(memory, block, shape, record);
    return memory.trial.cost;
}

// Finds the cheapest way to code a block as a leaf; returns its cost. If the cost is below the
// bound, makes a record.
__device__ inline int64_t try_leaf(BlockSearchMemory& memory, const BlockPlace& block, int64_t bound,
                                   uint8_t* record) {
    const Unit above = unit_above(memory.canvas, block), left = unit_left(memory.canvas, block);
    prepare_modes(memory, block, likely_modes(memory.canvas, block));
    compare_modes(memory, block);
    const int tried = rank_modes(memory);
    const CandidateCosts costs{
        flag_cost(memory, block, kLeaf),
        memory.costs.bit[kind_model(block.a, block.b, kind_context(above, left))], &memory.costs};
    return is_small(block)
               ? try_candidates<SmallCandidate>(memory, block, tried, costs, bound, record)
               : try_candidates<LargeCandidate>(memory, block, tried, costs, bound, record);
}

}  // namespace mmp
