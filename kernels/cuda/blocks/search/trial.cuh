// Trials of a block as a leaf: the best modes are tried in full, and the cheapest becomes a record.
// A candidate is a mode; a trial is one transform type of a candidate. All threads of a worker call
// each function.
#pragma once

#include "cuda/blocks/modes.cuh"
#include "cuda/blocks/search/worth.cuh"
#include "cuda/blocks/transform.cuh"
#include "cuda/blocks/weights.cuh"

namespace mmp {

// Sizes of a block's trials, as log2. Trial t is candidate t >> slots_log2 with the transform type of
// slot t & (slots - 1).
struct TrialShape {
    int a, b, slots_log2;         // height, width, transform types
    int rows_log2, columns_log2;  // size of the coded coefficients

    __device__ TrialShape(const BlockTools& tools, const BlockPlace& block)
        : a(block.a),
          b(block.b),
          slots_log2(!is_small(block) ? tools.trained_transforms
                     : tools.trained_transforms || type_allowed(tools, a, b, kTransformSkip) ? 2
                                                                                           : 1),
          rows_log2(min(a, kCodedSideLog2)),
          columns_log2(min(b, kCodedSideLog2)) {}
    __device__ int slots() const { return 1 << slots_log2; }
    __device__ int candidate(int t) const { return t >> slots_log2; }
    __device__ int slot(int t) const { return t & (slots() - 1); }
    __device__ int type(int t) const {
        return slot(t) && !sine_allowed(a, b) ? int(kTrained) : slot(t);
    }
    __device__ int area_log2() const { return a + b; }
    __device__ int coded_log2() const { return rows_log2 + columns_log2; }
};

// The two one-dimensional transforms of a transform type: sines become cosines at the border of the
// picture, where a tool says so.
struct Bases {
    int down, across;

    __device__ Bases(const BlockSearchMemory& memory, const BlockPlace& block, int type) {
        const int row = memory.canvas.row + block.row, column = memory.canvas.column + block.column;
        const bool sine = type == kSine, changes = memory.picture.tools.border_sines && (row || column);
        down = sine && (row || !changes) ? kSine : kCosine;
        across = sine && (column || !changes) ? kSine : kCosine;
    }
};

// Costs of a candidate without its levels, in 1/16 squared error.
struct CandidateCosts {
    int64_t flag;
    const int32_t* kind;  // of kBare and of kTransformed
    const BlockCosts* bits;
    const BlockTools* tools;

    __device__ int64_t mode(const TrialMemory& trial, int n) const {
        return flag + trial.mode_costs[trial.ranked[n]];
    }
    // RD cost of the prediction without a residual.
    __device__ int64_t bare(const TrialMemory& trial, int n) const {
        return mode(trial, n) + kind[kBare] + trial.energies[n];
    }
    // Cost of the symbols of a trial before its levels.
    __device__ int64_t transformed(const TrialMemory& trial, const TrialShape& shape, int t) const {
        const int n = shape.candidate(t);
        const int family = family_of(trial.modes[trial.ranked[n]]);
        return mode(trial, n) + kind[kTransformed] +
               type_cost(*tools, bits->bit(), shape.a, shape.b, family, shape.type(t));
    }
};

// Cost of the flag of a block; 0 if the border of the picture forces it.
__device__ inline int64_t flag_cost(BlockSearchMemory& memory, const BlockPlace& block, int flag) {
    Canvas& canvas = memory.canvas;
    if (canvas.forced_flag(block)) return 0;
    return flag_cost(memory.costs.bit(), block, flag, unit_above(canvas, block),
                     unit_left(canvas, block), memory.picture.tools.ternary);
}

// The arrays of a trial.
template <class Candidate>
__device__ typename Candidate::Slot& slot_of(BlockSearchMemory& memory, const TrialShape& shape,
                                             int t) {
    return candidate_of<Candidate>(memory, shape.candidate(t)).slots[shape.slot(t)];
}

// The place of a low frequency of a block, by its number in a table of the trained transforms.
struct LowFrequencies {
    const BlockTables& tables;
    const TrainedShape own;
    const uint16_t *rows, *scanned;

    __device__ LowFrequencies(const BlockTables& tables, int a, int b, int mode)
        : tables(tables),
          own(a, b, mode),
          rows(tables.low_rows[own.turned][own.shape]),
          scanned(tables.low_scanned[own.turned][own.shape]) {}
    // Entry of the matrix, by low frequency and transformed value.
    __device__ int entry(int frequency, int value) const {
        return tables.trained[own.group][own.high][own.wide][value][frequency];
    }
};

// Computes the coefficients of the trained transforms from those of the cosine transforms.
template <class Candidate>
__device__ void transform_by_trained(BlockSearchMemory& memory, const TrialShape& shape,
                                     int trials) {
    const BlockTables& tables = *memory.picture.tables;
    const uint16_t* order = tables.order[shape_number(shape.a, shape.b)];
    const int coded_log2 = shape.coded_log2();
    for (int i = threadIdx.x; i < trials << coded_log2; i += kBlockThreads) {
        const int t = i >> coded_log2, at = i & ((1 << coded_log2) - 1);
        if (shape.type(t) != kTrained) continue;
        const auto& slots = candidate_of<Candidate>(memory, shape.candidate(t)).slots;
        slot_of<Candidate>(memory, shape, t).coefficients[at] = slots[0].coefficients[at];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < trials * kMostLow; i += kBlockThreads) {
        const int t = i / kMostLow, k = i % kMostLow, n = shape.candidate(t);
        if (shape.type(t) != kTrained) continue;
        const LowFrequencies low(tables, shape.a, shape.b,
                                 memory.trial.modes[memory.trial.ranked[n]]);
        if (k >= low.own.count()) continue;
        const int16_t* cosines = candidate_of<Candidate>(memory, n).slots[0].coefficients;
        int32_t sum = 1 << (kEntryBits - 1);
        for (int m = 0; m < low.own.count(); ++m)
            sum += low.entry(m, k) * cosines[__ldg(order + low.rows[m])];
        slot_of<Candidate>(memory, shape, t).coefficients[__ldg(order + low.scanned[k])] =
            int16_t(saturated(sum >> kEntryBits));
    }
    __syncthreads();
}

// Finds the last coefficient of each trial that may become a level that is not 0, and the estimate
// of its rate.
template <class Candidate>
__device__ void measure_coefficients(BlockSearchMemory& memory, const TrialShape& shape,
                                     int trials) {
    const BlockTools& tools = memory.picture.tools;
    TrialMemory& trial = memory.trial;
    const int32_t least =
        tools.dependent ? first_coefficient(tools.step) : least_coefficient(tools.step);
    const int32_t step = independent_step(tools);
    const bool guesses = memory.picture.effort.hopeless < kAlways;
    const int coded_log2 = shape.coded_log2();
    for (int i = threadIdx.x; i < trials << coded_log2; i += kBlockThreads) {
        const int t = i >> coded_log2, number = i & ((1 << coded_log2) - 1);
        if (!type_allowed(tools, shape.a, shape.b, shape.type(t))) continue;
        auto& slot = slot_of<Candidate>(memory, shape, t);
        const int16_t value = slot.coefficients[number];
        slot.levels[number] = 0;
        if (abs(int(value)) > least) atomicMax(&trial.trials[t].top, number);
        if (guesses) trial.trials[t].rounded.add(value, number, step, coded_log2);
    }
    __syncthreads();
}

// Writes the predictions of the best candidates and clears the sums of their trials.
template <class Candidate>
__device__ void predict_candidates(BlockSearchMemory& memory, const BlockPlace& block,
                                          int tried) {
    TrialMemory& trial = memory.trial;
    const int a = block.a, b = block.b, pieces_log2 = a + b - 2 * kUnitLog2;
    if (threadIdx.x < kMostTried) {
        trial.squares[threadIdx.x] = 0;
        trial.coded[threadIdx.x] = trial.kept[threadIdx.x] = 0;
    }
    if (threadIdx.x < kMostTrials) {
        trial.errors[threadIdx.x] = 0;
        trial.trials[threadIdx.x].top = -1;
        trial.trials[threadIdx.x].rounded = {};
    }
    for (int i = threadIdx.x; i < tried << pieces_log2; i += kBlockThreads) {
        const int number = i >> pieces_log2, n = i & ((1 << pieces_log2) - 1);
        const int y = (n >> (b - kUnitLog2)) * kUnit, x = (n << kUnitLog2) & (block.width() - 1);
        const int listed = trial.ranked[number], mode = trial.modes[listed];
        write_piece(mode, memory.predict, memory.lines[listed], memory.planes->slow[0], a, b,
                    y, x, candidate_of<Candidate>(memory, number).prediction);
    }
    __syncthreads();
}

// Computes the costs of the errors of the predictions, from the sums.
__device__ inline void measure_predictions(BlockSearchMemory& memory, const BlockPlace& block,
                                           int tried) {
    TrialMemory& trial = memory.trial;
    const BlockPicture& picture = memory.picture;
    const Canvas& canvas = memory.canvas;
    const int n = threadIdx.x, strength = picture.tools.quantisation_matrix;
    if (n < tried) {
        const int weight = weight_in(picture, {canvas.row + block.row, canvas.column + block.column,
                                               block.a, block.b});
        if (n == 0) trial.weight = weight;
        const auto squares = int64_t(trial.squares[n]);
        trial.energies[n] = picture.depth.of_squares(squares);
        if (strength) {
            const WeightedErrors errors =
                weighted_error(*picture.tables, strength, block.a, block.b, picture.depth, squares,
                               trial.coded[n], trial.kept[n]);
            trial.rests[n] = errors.rest;
            trial.energies[n] = weighed(picture.depth.of_coefficients(errors.all), weight);
        }
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
    const int trials = tried << shape.slots_log2;
    const SampleDepth depth = memory.picture.depth;
    for (int i = threadIdx.x; i < tried << (a + b); i += kBlockThreads) {
        const int n = i >> (a + b), at = i & (area - 1);
        const int difference = memory.source_at(block, at >> b, at & (width - 1)) -
                               candidate_of<Candidate>(memory, n).prediction[at];
        add_square(trial.squares[n], difference);
    }
    constexpr int kWords = sizeof(Candidate::Slot::magnitudes) / 4;
    for (int i = threadIdx.x; i < trials * kWords; i += kBlockThreads)
        reinterpret_cast<uint32_t*>(slot_of<Candidate>(memory, shape, i / kWords).magnitudes)
            [i % kWords] = 0;
    const int half_log2 = shape.rows_log2 + b;
    for (int i = threadIdx.x; i < trials << half_log2; i += kBlockThreads) {
        const int t = i >> half_log2, at = i & ((1 << half_log2) - 1), type = shape.type(t);
        if (type > kSine) continue;
        const Candidate& candidate = candidate_of<Candidate>(memory, shape.candidate(t));
        const auto residual = [&](int y, int x) {
            return (memory.source_at(block, y, x) - candidate.prediction[(y << b) + x]) >>
                   depth.unseen();
        };
        slot_of<Candidate>(memory, shape, t).half[at] =
            column_frequency(tables, residual, a, Bases(memory, block, type).down, at >> b,
                             at & (width - 1), depth.seen());
    }
    __syncthreads();
    const uint16_t* order = tables.order[shape_number(a, b)];
    const int columns_log2 = shape.columns_log2, coded_log2 = shape.coded_log2();
    const int strength = memory.picture.tools.quantisation_matrix;
    for (int i = threadIdx.x; i < trials << coded_log2; i += kBlockThreads) {
        const int t = i >> coded_log2, at = i & ((1 << coded_log2) - 1), type = shape.type(t);
        if (type == kTrained || !type_allowed(memory.picture.tools, a, b, type)) continue;
        auto& slot = slot_of<Candidate>(memory, shape, t);
        int16_t value;
        if (type == kTransformSkip) {
            const int from = area - 1 - at;
            const int difference =
                (memory.source_at(block, from >> b, from & (width - 1)) -
                 candidate_of<Candidate>(memory, shape.candidate(t)).prediction[from]) >>
                depth.unseen();
            value = int16_t(saturated(
                (difference * (1 << kCoefficientBits) + (1 << depth.seen() >> 1)) >> depth.seen()));
        } else {
            const int row = at >> columns_log2, column = at & ((1 << columns_log2) - 1);
            value = coefficient_of(tables, slot.half, b, Bases(memory, block, type).across, row,
                                   column);
            if (strength) {
                const int n = shape.candidate(t);
                const int16_t whole = value;
                value = divided_coefficient(tables, strength, a, b, row, column, whole);
                if (type == kCosine) add_squares(trial.coded[n], trial.kept[n], whole, value);
            }
        }
        slot.coefficients[__ldg(order + at)] = value;
    }
    __syncthreads();
    if (memory.picture.tools.trained_transforms)
        transform_by_trained<Candidate>(memory, shape, trials);
    measure_coefficients<Candidate>(memory, shape, trials);
}

// Whether a residual is dropped if kTrellisPercent of its estimate is no less than the least cost.
__device__ inline bool is_trellis_pruned(const BlockSearchMemory& memory) {
    return memory.picture.tools.dependent && memory.picture.effort.hopeless < kAlways;
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
    const bool there = t < tried << shape.slots_log2 &&
                       type_allowed(memory.picture.tools, shape.a, shape.b, shape.type(t));
    if (t < 32) {
        int64_t bare = kNever, estimate = kNever;
        if (there) {
            const RoundedLevels& rounded = trial.trials[t].rounded;
            bare = costs.bare(trial, n);
            estimate = costs.transformed(trial, shape, t) +
                       residual_cost(estimated_rate(rounded.rate(), memory.costs.plain),
                                     trial.energies[n],
                                     weighed(rounded.energy() << 2 * memory.picture.depth.kept(),
                                             trial.weight));
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
    const int a = shape.a, b = shape.b, trials = tried << shape.slots_log2;
    const BlockTools& tools = memory.picture.tools;
    const int lanes = tools.dependent ? kQuantiserStates
                                      : 1 << min(shape.rows_log2, shape.columns_log2);
    // Distributes the trials over the warps.
    const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / lanes;
    for (int first = warp; first < trials; first += kBlockThreads / lanes) {
        const int own = first + group * kBlockWarps;
        const bool there = own < trials;
        const int t = there ? own : first;
        const int n = shape.candidate(t);
        auto& slot = slot_of<Candidate>(memory, shape, t);
        const int mode = trial.modes[trial.ranked[n]];
        LevelScan scan(*memory.picture.tables, a, b, family_of(mode), slot.magnitudes);
        const int top = there ? trial.trials[t].top : -1;
        ChosenLevels chosen;
        if (tools.dependent)
            chosen = Trellis(*memory.picture.tables, scan, slot.coefficients, top + 1, tools.step,
                             trial.weight, memory.costs, memory.planes->trellis[t])
                         .choose(slot.levels);
        else
            chosen = choose_levels_together(scan, lanes, top, slot.coefficients, tools.step,
                                            memory.costs, slot.levels);
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
__device__ int rebuilt_sample(BlockSearchMemory& memory, const BlockPlace& block,
                              const TrialShape& shape, int t, int at) {
    const Candidate& candidate = candidate_of<Candidate>(memory, shape.candidate(t));
    const auto& slot = candidate.slots[shape.slot(t)];
    const int a = shape.a, b = shape.b, type = shape.type(t);
    const SampleDepth depth = memory.picture.depth;
    const int residual =
        type == kTransformSkip
            ? (slot.coefficients[(1 << (a + b)) - 1 - at] * (1 << depth.extra()) +
               (1 << (kCoefficientBits - 1))) >>
                  kCoefficientBits
            : residual_sample(*memory.picture.tables, slot.half, a, b,
                              Bases(memory, block, type).across, at >> b, at & ((1 << b) - 1),
                              depth);
    return depth.limited(candidate.prediction[at] + residual);
}

// Undoes the trained transforms of the dequantised coefficients of trials `first` to `last` - 1.
template <class Candidate>
__device__ void undo_trained(BlockSearchMemory& memory, const TrialShape& shape, int first,
                             int last) {
    const BlockTables& tables = *memory.picture.tables;
    const auto for_each = [&](const auto& work) {
        for (int i = threadIdx.x + first * kMostLow; i < last * kMostLow; i += kBlockThreads) {
            const int t = i / kMostLow, k = i % kMostLow;
            if (shape.type(t) != kTrained || memory.trial.trials[t].skipped) continue;
            const int mode = memory.trial.modes[memory.trial.ranked[shape.candidate(t)]];
            const LowFrequencies low(tables, shape.a, shape.b, mode);
            if (k < low.own.count()) work(slot_of<Candidate>(memory, shape, t), low, k);
        }
        __syncthreads();
    };
    for_each([](auto& slot, const LowFrequencies& low, int k) {
        int32_t sum = 1 << (kEntryBits - 1);
        for (int m = 0; m < low.own.count(); ++m)
            sum += low.entry(k, m) * slot.coefficients[low.scanned[m]];
        slot.half[k] = int16_t(saturated(sum >> kEntryBits));
    });
    for_each([](auto& slot, const LowFrequencies& low, int k) {
        slot.coefficients[low.rows[k]] = slot.half[k];
    });
}

// Value of a level of a trial, by its number in scan order.
template <class Slot>
__device__ int32_t dequantised_level(const BlockSearchMemory& memory, const Slot& slot, int t,
                                     int number) {
    const BlockTools& tools = memory.picture.tools;
    const int level = slot.levels[number];
    if (!level || !tools.dependent) return level ? dequantised(level, tools.step) : 0;
    const int quantiser =
        int(memory.planes->trellis[t].decisions[number] >> TrellisRoom::kQuantiser);
    const int32_t value = dependent_value(abs(level), quantiser, tools.step);
    return level < 0 ? -value : value;
}

// With a quantisation matrix: sums the squared errors of the divided coefficients.
template <class Candidate>
__device__ void measure_levels(BlockSearchMemory& memory, const TrialShape& shape, int tried) {
    TrialMemory& trial = memory.trial;
    const int coded_log2 = shape.coded_log2(), trials = tried << shape.slots_log2;
    for (int i = threadIdx.x; i < trials << coded_log2; i += kBlockThreads) {
        const int t = i >> coded_log2, number = i & ((1 << coded_log2) - 1);
        if (trial.trials[t].skipped) continue;
        const auto& slot = slot_of<Candidate>(memory, shape, t);
        const int64_t difference =
            slot.coefficients[number] - int(int16_t(dequantised_level(memory, slot, t, number)));
        add_to(trial.errors[t], difference * difference);
    }
    __syncthreads();
}

// Computes the coefficients and the inverse column transforms of trials `first` to `last` - 1.
template <class Candidate>
__device__ void rebuild_trials(BlockSearchMemory& memory, const BlockPlace& block,
                               const TrialShape& shape, int first, int last) {
    const BlockPicture& picture = memory.picture;
    const BlockTables& tables = *picture.tables;
    const TrialMemory& trial = memory.trial;
    const int a = shape.a, b = shape.b, strength = picture.tools.quantisation_matrix;
    const int columns_log2 = shape.columns_log2, coded_log2 = shape.coded_log2();
    const int columns_mask = (1 << columns_log2) - 1;
    const int begin = threadIdx.x + (first << coded_log2);
    for (int i = begin; i < last << coded_log2; i += kBlockThreads) {
        const int t = i >> coded_log2, at = i & ((1 << coded_log2) - 1);
        if (trial.trials[t].skipped) continue;
        auto& slot = slot_of<Candidate>(memory, shape, t);
        const int number = __ldg(&tables.order[shape_number(a, b)][at]);
        slot.coefficients[at] = int16_t(dequantised_level(memory, slot, t, number));
    }
    __syncthreads();
    if (picture.tools.trained_transforms) undo_trained<Candidate>(memory, shape, first, last);
    for (int i = begin; strength && i < last << coded_log2; i += kBlockThreads) {
        const int t = i >> coded_log2, at = i & ((1 << coded_log2) - 1);
        if (trial.trials[t].skipped) continue;
        int16_t& value = slot_of<Candidate>(memory, shape, t).coefficients[at];
        const int weight =
            weight_at(tables, strength, a, b, at >> columns_log2, at & columns_mask);
        const int32_t size = multiplied(abs(int(value)), weight);
        value = int16_t(value < 0 ? -size : size);
    }
    __syncthreads();
    const int columns_area_log2 = a + columns_log2;
    for (int i = threadIdx.x + (first << columns_area_log2); i < last << columns_area_log2;
         i += kBlockThreads) {
        const int t = i >> columns_area_log2, at = i & ((1 << columns_area_log2) - 1);
        const int type = shape.type(t);
        if (trial.trials[t].skipped || type == kTransformSkip) continue;
        auto& slot = slot_of<Candidate>(memory, shape, t);
        slot.half[at] = column_sample(tables, slot.coefficients, a, b,
                                      Bases(memory, block, type).down, at >> columns_log2,
                                      at & columns_mask);
    }
    __syncthreads();
}

// Sums the squared errors of the samples of the trials, which are rebuilt.
template <class Candidate>
__device__ void measure_samples(BlockSearchMemory& memory, const BlockPlace& block,
                                const TrialShape& shape, int tried) {
    const int a = shape.a, b = shape.b, area = block.area(), width = block.width();
    const int trials = tried << shape.slots_log2;
    TrialMemory& trial = memory.trial;
    for (int i = threadIdx.x; i < trials << (a + b); i += kBlockThreads) {
        const int t = i >> (a + b), at = i & (area - 1);
        if (trial.trials[t].skipped) continue;
        const int difference = memory.source_at(block, at >> b, at & (width - 1)) -
                               rebuilt_sample<Candidate>(memory, block, shape, t, at);
        add_square(trial.errors[t], difference);
    }
    __syncthreads();
}

// Writes the cheapest candidate or trial to trial.best, trial.cost and trial.node. trial.best is -1
// if none costs less than the bound.
__device__ inline void take_cheapest(BlockSearchMemory& memory, const TrialShape& shape,
                                     const CandidateCosts& costs, int tried, int64_t bound) {
    TrialMemory& trial = memory.trial;
    const int slots = shape.slots();
    const bool weighs = memory.picture.tools.quantisation_matrix;
    const SampleDepth depth = memory.picture.depth;
    const auto error = [&](int n, int t) {
        const int64_t own = int64_t(trial.errors[t]);
        return weighs ? weighed(depth.of_coefficients(trial.rests[n] + own), trial.weight)
                      : depth.of_squares(own);
    };
    if (threadIdx.x == 0) {
        trial.cost = bound;
        trial.best = -1;
        for (int n = 0; n < tried; ++n) {
            const int mode = trial.modes[trial.ranked[n]];
            const int64_t bare = costs.bare(trial, n);
            if (bare < trial.cost) {
                trial.cost = bare;
                trial.best = n * slots;
                trial.node = pack_block(kLeaf, mode, kBare, 0);
            }
            for (int t = n * slots; t < (n + 1) * slots; ++t) {
                const int64_t cost = trial.trials[t].cost + error(n, t);
                if (trial.trials[t].skipped || cost >= trial.cost) continue;
                if (is_trellis_pruned(memory) &&
                    trial.trials[t].estimate / 100 * kTrellisPercent >= trial.cost)
                    continue;
                trial.cost = cost;
                trial.best = t;
                trial.node = pack_block(kLeaf, mode, kTransformed, shape.type(t));
            }
        }
    }
    __syncthreads();
}

// Writes the samples of the cheapest trial, and its levels in scan order, if it has any.
template <class Candidate>
__device__ void write_leaf_of(BlockSearchMemory& memory, const BlockPlace& block,
                              const TrialShape& shape, Sample* samples, int16_t* levels) {
    const int t = memory.trial.best;
    const Candidate& candidate = candidate_of<Candidate>(memory, shape.candidate(t));
    const bool transformed = kind_of(memory.trial.node) == kTransformed;
    for (int i = threadIdx.x; i < block.area(); i += kBlockThreads)
        samples[i] = transformed ? Sample(rebuilt_sample<Candidate>(memory, block, shape, t, i))
                                 : candidate.prediction[i];
    for (int i = threadIdx.x; transformed && i < 1 << shape.coded_log2(); i += kBlockThreads)
        levels[i] = candidate.slots[shape.slot(t)].levels[i];
    __syncthreads();
}
__device__ inline void write_leaf(BlockSearchMemory& memory, const BlockPlace& block,
                                  const TrialShape& shape, Sample* samples, int16_t* levels) {
    if (is_small(block))
        write_leaf_of<SmallCandidate>(memory, block, shape, samples, levels);
    else
        write_leaf_of<LargeCandidate>(memory, block, shape, samples, levels);
}

// Tries the `tried` best modes of a block in full. Returns the least cost, kNever if it is not below
// the bound.
template <class Candidate>
__device__ int64_t try_candidates(BlockSearchMemory& memory, const BlockPlace& block, int tried,
                                  const CandidateCosts& costs, int64_t bound) {
    const TrialShape shape(memory.picture.tools, block);
    predict_candidates<Candidate>(memory, block, tried);
    transform_candidates<Candidate>(memory, block, shape, tried);
    measure_predictions(memory, block, tried);
    if (memory.picture.effort.hopeless < kAlways) drop_hopeless(memory, shape, costs, tried);
    choose_trial_levels<Candidate>(memory, shape, costs, tried, bound);
    const bool weighs = memory.picture.tools.quantisation_matrix;
    if (weighs) {
        measure_levels<Candidate>(memory, shape, tried);
    } else {
        rebuild_trials<Candidate>(memory, block, shape, 0, tried << shape.slots_log2);
        measure_samples<Candidate>(memory, block, shape, tried);
    }
    take_cheapest(memory, shape, costs, tried, bound);
    const int best = memory.trial.best;
    if (best < 0) return kNever;
    if (weighs && kind_of(memory.trial.node) == kTransformed)
        rebuild_trials<Candidate>(memory, block, shape, best, best + 1);
    return memory.trial.cost;
}

// Finds the cheapest way to code a block as a leaf; returns its cost, kNever if it is not below the
// bound.
__device__ inline int64_t try_leaf(BlockSearchMemory& memory, const BlockPlace& block,
                                   int64_t bound) {
    const Unit above = unit_above(memory.canvas, block), left = unit_left(memory.canvas, block);
    prepare_modes(memory, block, likely_modes(memory.canvas, block));
    compare_modes(memory, block);
    const int tried = rank_modes(memory);
    const CandidateCosts costs{
        flag_cost(memory, block, kLeaf),
        memory.costs.bit()[kind_model(block.a, block.b, kind_context(above, left))], &memory.costs,
        &memory.picture.tools};
    return is_small(block)
               ? try_candidates<SmallCandidate>(memory, block, tried, costs, bound)
               : try_candidates<LargeCandidate>(memory, block, tried, costs, bound);
}

}  // namespace mmp
