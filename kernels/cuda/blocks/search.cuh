// The search for the blocks of a fragment. A picture has one worker or more, each a CUDA block with
// its own copy of what is decoded around the fragment; where a block may be split both ways, the
// workers at it part in two teams, one a way.
#pragma once

#include "cuda/device/barrier.cuh"
#include "cuda/blocks/costs.cuh"
#include "cuda/blocks/predict.cuh"
#include "cuda/blocks/templates.cuh"
#include "cuda/blocks/transform.cuh"

namespace mmp {

// What lies around the block that is searched, in samples from the fragment's first.
constexpr int kCanvasRows = kReach + kMaxSide, kCanvasColumns = kReach + 2 * kMaxSide;
constexpr int kMostCandidates = kMostSurveyed + 4;
constexpr int kSearchers = kBlockWarps - 1;  // warps that search templates
// Bit of a block's worth: it, or a part of it, may be predicted by templates.
constexpr int kMatched = 3;

struct Canvas {
    uint8_t samples[kCanvasRows][kCanvasColumns];
    Unit units[kCanvasRows / kUnit][kCanvasColumns / kUnit];
    int16_t levels[kMaxSide][kMaxSide];
    int row, column;    // the fragment's first in the picture
    int rows, columns;  // of the picture from there on

    __device__ bool holds(int row, int column) const {
        return row < min(rows, kMaxSide) && column < min(columns, 2 * kMaxSide);
    }
    __device__ uint8_t* sample(int row, int column) {
        return &samples[row + kReach][column + kReach];
    }
    __device__ Unit& unit(int row, int column) {
        return units[(row + kReach) / kUnit][(column + kReach) / kUnit];
    }
    __device__ int at(int row, int column) const {
        return samples[row + kReach][column + kReach];
    }
    __device__ bool known(int row, int column) const {
        return holds(row, column) && units[(row + kReach) / kUnit][(column + kReach) / kUnit].known();
    }
};

// One mode that is tried in full, and its two transforms.
struct Candidate {
    int16_t coefficients[kMaxCoded], levels[kMaxCoded];  // in scan order; rebuilt ones row by row
    int16_t half[kCodedSide * kMaxSide];
    uint8_t prediction[kMaxBlockArea];
    uint8_t magnitudes[kMostMargins];
};

struct TransformTrial {
    int64_t cost;  // without distortion
    int32_t top, skipped;
};

struct TrialMemory {
    int32_t count;  // modes
    uint8_t modes[kMostCandidates];
    // What saying a mode costs, also in absolute differences; and how good all looks.
    int32_t mode_costs[kMostCandidates], sayings[kMostCandidates], sums[kMostCandidates];
    uint8_t ranked[kMostCandidates];
    int32_t bare[kMostTried];  // distortion of the prediction alone
    TransformTrial trials[2 * kMostTried];
    int32_t distortions[2 * kMostTried];
    int64_t cost;
    int32_t best;
    uint16_t node;
};

struct SearchMemory {
    BlockPicture picture;
    BlockCosts costs;
    BlockModels models;
    uint32_t mode_totals[kSizes];
    Canvas canvas;
    PredictMemory predict;
    Line lines[kMostCandidates];
    TrialMemory trial;
    TemplateMemory templates[kSearchers];
    uint8_t source[kMaxSide][kMaxSide];
    uint8_t fitted[kMaxBlockArea], matched[kMaxBlockArea];
    const uint64_t* modes;   // promising ones of each block
    uint8_t worth[kBlocks];  // whether it may be whole, or split by columns or rows, see kMatched
    uint8_t* window;         // what templates see, see kWindowRows; null where there are none
    uint32_t wide[kHashWords];
    uint32_t record_start[kShapes];
    uint32_t record_size[kShapes];
    uint32_t surroundings[kMostSurroundings];
    uint32_t hash;
    uint16_t nodes[kPlanNodes];
    union {
        Candidate candidates[1];  // `tried` of them
        FitMemory fit;            // before them
        struct {
            int64_t whole[kBlocks], least[kBlocks];
        } survey;
    };
};

// That of this worker. The compiler knows that it is shared where it is asked for and not kept.
__device__ inline SearchMemory& search_memory() {
    extern __shared__ __align__(16) uint8_t shared[];
    return *reinterpret_cast<SearchMemory*>(shared);
}

// Bytes of a worker that tries so many modes.
MMP_HD constexpr int64_t search_bytes(int tried) {
    return int64_t{sizeof(SearchMemory)} + (tried - 1) * int64_t{sizeof(Candidate)};
}

// Bytes of what one worker finds.
MMP_HD constexpr int64_t worker_bytes() {
    int64_t bytes = int64_t{kBlocks} * sizeof(Findings) + kWindowBytes;
    for (int a = kMinSideLog2; a <= kMaxSideLog2; ++a)
        for (int b = kMinSideLog2; b <= kMaxSideLog2; ++b)
            bytes += int64_t{kSlots} * RecordLayout(a, b).size << (2 * kMaxSideLog2 - a - b);
    return bytes;
}

// A worker and its place in the team.
struct Worker {
    BlockState& state;
    int number, workers;
    uint32_t* barriers;  // how often this one has waited at each

    __device__ uint8_t* own_memory() const {
        const BlockPicture& picture = search_memory().picture;
        return picture.findings + number * picture.worker_bytes;
    }
    __device__ Findings& findings(const Place& block) const {
        return reinterpret_cast<Findings*>(own_memory())[block.number()];
    }
    __device__ uint8_t* record(const Place& block, int slot) const {
        const int shape = shape_number(block.a, block.b);
        const int index = (block.row >> block.a) * (kMaxSide >> block.b) + (block.column >> block.b);
        const SearchMemory& memory = search_memory();
        return own_memory() + memory.record_start[shape] +
               int64_t{memory.record_size[shape]} * (index * kSlots + slot);
    }
    // All threads of the workers from `first` to `last` - 1 come here.
    __device__ void meet(int first, int last) {
        __syncthreads();
        if (last - first == 1) return;
        if (threadIdx.x == 0) {
            const int team = team_number(first, last);
            arrive_and_wait(&state.arrived[team], ++barriers[team] * (last - first));
        }
        __syncthreads();
    }
    // Teams halve like a heap.
    __device__ int team_number(int first, int last) const {
        return workers / (last - first) - 1 + first / (last - first);
    }
};

// ---------------------------------------------------------------- what lies around the fragment

// The window as templates see it.
struct WindowPlaces {
    const uint8_t* window;
    int row, column;  // of the fragment in the picture
    static constexpr int stride = kWindowColumns;

    __device__ const uint8_t* pointer(int y, int x) const {
        return window + (y - row + kWindowAbove) * stride + x - column + kWindowLeft;
    }
};

// The first column that is not decoded in the fragment's row of units that has the lane's number.
__device__ inline int decoded_end(const SearchMemory& memory) {
    const Canvas& canvas = memory.canvas;
    const int row = threadIdx.x % 32 * kUnit;
    if (row >= min(1 << memory.picture.fragment_log2, canvas.rows)) return 0;
    int units = 0;
#pragma unroll
    for (int n = 0; n < kMaxSide / kUnit; ++n) units += canvas.known(row, n * kUnit);
    return canvas.column + units * kUnit;
}

// Whether a sample of the picture that lies within the window is decoded.
__device__ inline bool is_decoded(const SearchMemory& memory, int y, int x) {
    const Canvas& canvas = memory.canvas;
    const int row = y - canvas.row, column = x - canvas.column;
    if (row < -kReach) return column < canvas.columns;
    if (column < -kReach) return row < min(1 << memory.picture.fragment_log2, canvas.rows);
    return canvas.known(row, column);
}

__device__ inline void start_canvas(SearchMemory& memory, int row, int column) {
    const BlockPicture& picture = memory.picture;
    Canvas& canvas = memory.canvas;
    if (threadIdx.x == 0) {
        canvas.row = row, canvas.column = column;
        canvas.rows = picture.height - row, canvas.columns = picture.width - column;
    }
    constexpr int kUnitRows = kCanvasRows / kUnit, kUnitColumns = kCanvasColumns / kUnit;
    for (int i = threadIdx.x; i < kUnitRows * kUnitColumns; i += kBlockThreads) {
        const int y = row - kReach + i / kUnitColumns * kUnit;
        const int x = column - kReach + i % kUnitColumns * kUnit;
        const bool inside = y >= 0 && x >= 0 && y < picture.height && x < picture.width;
        (&canvas.units[0][0])[i] =
            inside ? picture.units[int64_t{y / kUnit} * (picture.width / kUnit) + x / kUnit]
                   : Unit{};
    }
    for (int i = threadIdx.x; i < kCanvasRows * kCanvasColumns; i += kBlockThreads) {
        const int y = row - kReach + i / kCanvasColumns, x = column - kReach + i % kCanvasColumns;
        const bool inside = y >= 0 && x >= 0 && y < picture.height && x < picture.width;
        (&canvas.samples[0][0])[i] = inside ? picture.samples[int64_t{y} * picture.width + x] : 0;
    }
    for (int i = threadIdx.x; memory.window && i < kWindowBytes; i += kBlockThreads) {
        const int y = row - kWindowAbove + i / kWindowColumns;
        const int x = column - kWindowLeft + i % kWindowColumns;
        if (y >= 0 && x >= 0 && y < picture.height && x < picture.width)
            memory.window[i] = picture.samples[int64_t{y} * picture.width + x];
    }
    for (int i = threadIdx.x; i < kMaxBlockArea; i += kBlockThreads) {
        const int y = min(row + i / kMaxSide, picture.height - 1);
        const int x = min(column + i % kMaxSide, picture.width - 1);
        (&memory.source[0][0])[i] = picture.source[int64_t{y} * picture.width + x];
    }
    __syncthreads();
}

__device__ inline Unit unit_above(Canvas& canvas, const Place& block) {
    return canvas.unit(block.row - 1, block.column);
}
__device__ inline Unit unit_left(Canvas& canvas, const Place& block) {
    return canvas.unit(block.row, block.column - 1);
}

__device__ inline bool outside(const Canvas& canvas, const Place& block) {
    return block.row >= canvas.rows || block.column >= canvas.columns;
}
__device__ inline int forced_split(const Canvas& canvas, const Place& block) {
    if (block.column + block.width() > canvas.columns) return kSplitColumns;
    if (block.row + block.height() > canvas.rows) return kSplitRows;
    return kWhole;
}

__device__ inline void mark(Canvas& canvas, const Place& block, const Unit& with) {
    const int across = block.width() / kUnit;
    for (int i = threadIdx.x; i < block.height() / kUnit * across; i += kBlockThreads) {
        const int row = block.row + i / across * kUnit, column = block.column + i % across * kUnit;
        if (canvas.holds(row, column)) canvas.unit(row, column) = with;
    }
}

// ---------------------------------------------------------------- what was found before

// Brings all that a search over a block can see to memory.surroundings, and its hash.
__device__ inline void see_surroundings(SearchMemory& memory, const Place& block) {
    Canvas& canvas = memory.canvas;
    const int length = block.height() + block.width();
    const int across = (kReach + max(length, block.width() + kReach)) / kUnit;
    const int above = kReach / kUnit * across, count = surrounding_units(block.a, block.b);
    __syncthreads();  // the hash before has been read
    if (threadIdx.x < kHashWords) memory.wide[threadIdx.x] = 0;
    if (threadIdx.x == 0) memory.hash = 0;
    __syncthreads();
    uint32_t hash = 0;
    for (int i = threadIdx.x; i < count; i += kBlockThreads) {
        const int n = i - above;
        const int row = n < 0 ? block.row - kReach + i / across * kUnit : block.row + n / 2 * kUnit;
        const int column = block.column - kReach + (n < 0 ? i % across : n % 2) * kUnit;
        const bool beside =
            n < 0 ? row == block.row - kUnit && column >= block.column &&
                        column < block.column + block.width()
                  : column == block.column - kUnit && row < block.row + block.height();
        uint32_t words[kSurroundingWords] = {};
        if (canvas.known(row, column)) {
            words[0] = 1;
            if (beside) words[0] = *reinterpret_cast<const uint32_t*>(&canvas.unit(row, column));
            for (int y = 0; y < kUnit; ++y)
                words[1 + y] = *reinterpret_cast<const uint32_t*>(canvas.sample(row + y, column));
        }
        for (int k = 0; k < kSurroundingWords; ++k) {
            memory.surroundings[i * kSurroundingWords + k] = words[k];
            const uint32_t mixed =
                (words[k] ^ (i * kSurroundingWords + k + 1) * 0x9E3779B9u) * 0x85EBCA6Bu;
            hash += (mixed ^ mixed >> 15) * 0xC2B2AE35u;
        }
    }
    // Of what lies further away only the fragment's own part differs.
    if (memory.worth[block.number()] >> kMatched & 1) {
        uint64_t wide[2] = {0, 0};
        constexpr int kAcross = kMaxSide / kUnit;
        for (int i = threadIdx.x; i < kAcross * kAcross; i += kBlockThreads) {
            const int row = i / kAcross * kUnit, column = i % kAcross * kUnit;
            if (!canvas.known(row, column)) continue;
            for (int y = 0; y < kUnit; ++y) {
                const uint64_t word = *reinterpret_cast<const uint32_t*>(canvas.sample(row + y, column));
                const uint64_t mixed =
                    (word ^ uint64_t(i * kUnit + y + 1) << 32) * 0x9E3779B97F4A7C15ull;
                wide[0] ^= (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9ull;
                wide[1] ^= (mixed ^ mixed >> 32) * 0x94D049BB133111EBull;
            }
        }
        for (int k = 0; k < kHashWords; ++k) {
            const uint32_t word = warp_xor(uint32_t(wide[k / 2] >> (k % 2 * 32)));
            if (threadIdx.x % 32 == 0) atomicXor(&memory.wide[k], word);
        }
    }
    hash = warp_sum(hash);
    if (threadIdx.x % 32 == 0) atomicAdd(&memory.hash, hash);
    __syncthreads();
    if (threadIdx.x < kHashWords) {
        const uint32_t word = memory.wide[threadIdx.x];
        memory.surroundings[count * kSurroundingWords + threadIdx.x] = word;
        atomicAdd(&memory.hash, word);
    }
    __syncthreads();
}

// Whether a record was made with the same surroundings.
__device__ inline bool seen_before(const SearchMemory& memory, const Place& block,
                                   const uint8_t* record) {
    const RecordLayout layout(block.a, block.b);
    const uint32_t* then = reinterpret_cast<const uint32_t*>(record + layout.surroundings);
    const int words = surrounding_words(block.a, block.b);
    bool differ = false;
    for (int i = threadIdx.x; i < words; i += kBlockThreads)
        differ |= then[i] != memory.surroundings[i];
    return !__syncthreads_or(differ);
}

// Writes a block as a record has it to the canvas.
__device__ inline void show(SearchMemory& memory, const Place& block, const uint8_t* record) {
    Canvas& canvas = memory.canvas;
    const RecordLayout layout(block.a, block.b);
    const Unit* units = reinterpret_cast<const Unit*>(record + layout.units);
    const uint32_t* samples = reinterpret_cast<const uint32_t*>(record + layout.samples);
    const uint32_t* levels = reinterpret_cast<const uint32_t*>(record + layout.levels);
    const int width = block.width();
    for (int i = threadIdx.x; i < block.area() / 4; i += kBlockThreads) {
        const int row = block.row + i * 4 / width, column = block.column + i * 4 % width;
        *reinterpret_cast<uint32_t*>(canvas.sample(row, column)) = samples[i];
        if (memory.window)
            *reinterpret_cast<uint32_t*>(memory.window + (row + kWindowAbove) * kWindowColumns +
                                         column + kWindowLeft) = samples[i];
        uint32_t* to = reinterpret_cast<uint32_t*>(&canvas.levels[row][column]);
        to[0] = levels[2 * i], to[1] = levels[2 * i + 1];
    }
    for (int i = threadIdx.x; i < block.area() / (kUnit * kUnit); i += kBlockThreads) {
        const int row = block.row + i / (width / kUnit) * kUnit;
        const int column = block.column + i % (width / kUnit) * kUnit;
        if (canvas.holds(row, column)) canvas.unit(row, column) = units[i];
    }
    __syncthreads();
}

// Makes a record of a block that was split, of what the canvas shows and its halves' nodes.
__device__ inline void gather(Canvas& canvas, const Place& block, int split, int64_t cost,
                              const uint8_t* const (&halves)[2], uint8_t* record) {
    const RecordLayout layout(block.a, block.b);
    uint16_t* nodes = reinterpret_cast<uint16_t*>(record + layout.nodes);
    int count = 1;
    for (int half = 0; half < 2; ++half) {
        if (!halves[half]) continue;
        const Place place = half_of(block, split, half);
        const int more = reinterpret_cast<const Record*>(halves[half])->nodes;
        const uint16_t* from = reinterpret_cast<const uint16_t*>(
            halves[half] + RecordLayout(place.a, place.b).nodes);
        for (int i = threadIdx.x; i < more; i += kBlockThreads) nodes[count + i] = from[i];
        count += more;
    }
    if (threadIdx.x == 0) {
        nodes[0] = pack_block(split, 0, 0, 0);
        Record& head = *reinterpret_cast<Record*>(record);
        head.cost = cost;
        head.nodes = count;
    }
    Unit* units = reinterpret_cast<Unit*>(record + layout.units);
    uint32_t* samples = reinterpret_cast<uint32_t*>(record + layout.samples);
    uint32_t* levels = reinterpret_cast<uint32_t*>(record + layout.levels);
    const int width = block.width();
    for (int i = threadIdx.x; i < block.area() / 4; i += kBlockThreads) {
        const int row = block.row + i * 4 / width, column = block.column + i * 4 % width;
        samples[i] = *reinterpret_cast<const uint32_t*>(canvas.sample(row, column));
        const uint32_t* from = reinterpret_cast<const uint32_t*>(&canvas.levels[row][column]);
        levels[2 * i] = from[0], levels[2 * i + 1] = from[1];
    }
    for (int i = threadIdx.x; i < block.area() / (kUnit * kUnit); i += kBlockThreads) {
        const int row = block.row + i / (width / kUnit) * kUnit;
        const int column = block.column + i % (width / kUnit) * kUnit;
        units[i] = canvas.holds(row, column) ? canvas.unit(row, column) : Unit{};
    }
    __syncthreads();
}

// ---------------------------------------------------------------- one block as a whole

// The modes that may be worth a try, as bits.
__device__ inline uint64_t promising_modes(const SearchMemory& memory, const Place& block,
                                           const LikelyModes& likely, uint64_t allowed) {
    // Templates take long, so they are tried only where the survey says so.
    const uint64_t quick = (uint64_t{1} << kTemplates) - 1;
    const uint64_t neighbours = (uint64_t{1} << likely.left | uint64_t{1} << likely.above) & quick;
    return (memory.modes[block.number()] | neighbours | 1 << kAverage | 1 << kPlanar) & allowed;
}

// Lists them and what saying them costs. By the first warp.
__device__ inline void price_modes(SearchMemory& memory, const Place& block, uint64_t promising,
                                   const LikelyModes& likely, uint64_t allowed) {
    const BlockPicture& picture = memory.picture;
    const int lane = threadIdx.x, size = size_of(block.a, block.b);
    uint32_t total = 0;
    for (int mode = lane; mode < kModes; mode += 32)
        total += memory.models.mode_weight(size, mode, likely, allowed);
    total = warp_sum(total);
    const BitCosts& bit = memory.costs.bit;
    const int32_t(*likely_costs)[2] = &bit[likely_model(size, 0)];
    const bool same = likely.left == likely.above;
    for (int mode = lane; mode < kModes; mode += 32) {
        if (!(promising >> mode & 1)) continue;
        int32_t cost;
        if (mode == likely.left) {
            cost = likely_costs[same][1];
        } else if (mode == likely.above) {
            cost = likely_costs[0][0] + likely_costs[2][1];
        } else {
            const uint32_t weight = memory.models.mode_weight(size, mode, likely, allowed);
            const int32_t rate = __ldg(picture.rates + total) - __ldg(picture.rates + weight);
            cost = (same ? likely_costs[1][0] : likely_costs[0][0] + likely_costs[2][0]) +
                   int32_t(lagrangian(rate, picture.lambda_fixed));
        }
        const int place = __popcll(promising & ((uint64_t{1} << mode) - 1));
        memory.trial.modes[place] = uint8_t(mode);
        memory.trial.mode_costs[place] = cost;
        memory.trial.sayings[place] = mode_estimate(0, cost, picture.root);
        memory.trial.sums[place] = 0;
    }
    if (lane == 0) memory.trial.count = __popcll(promising);
}

__device__ inline int known_units(const Canvas& canvas, int row, int column, int down, int across,
                                  int units) {
    const int lane = threadIdx.x % 32;
    const bool known = lane < units && canvas.known(row + lane * down, column + lane * across);
    const uint32_t unknown = ~__ballot_sync(kAllLanes, known);
    return unknown ? __ffs(unknown) - 1 : 32;
}

__device__ inline int64_t split_cost(SearchMemory& memory, const Place& block, int split) {
    Canvas& canvas = memory.canvas;
    const bool columns = may_split(block, kSplitColumns), rows = may_split(block, kSplitRows);
    if (forced_split(canvas, block) || (!columns && !rows)) return 0;
    const Unit above = unit_above(canvas, block), left = unit_left(canvas, block);
    const int a = block.a, b = block.b;
    const BitCosts& bit = memory.costs.bit;
    const int32_t* whether = bit[split_model(a, b, split_context(a, b, above, left))];
    const int32_t* how = bit[direction_model(a, b, direction_context(a, b, above, left))];
    if (split == kWhole) return whether[0];
    return whether[1] + (columns && rows ? how[split == kSplitRows] : 0);
}

// Finds the best way to code a block that is not split; gives what it costs. If that is less than
// the bound, makes a record of it.
__device__ inline int64_t try_whole(SearchMemory& memory, const Place& block, int64_t bound,
                                    uint8_t* record) {
    const BlockPicture& picture = memory.picture;
    const BlockTables& tables = *picture.tables;
    Canvas& canvas = memory.canvas;
    TrialMemory& trial = memory.trial;
    const int a = block.a, b = block.b, area = block.area(), width = block.width();
    const int length = block.height() + width;
    const Unit above = unit_above(canvas, block), left = unit_left(canvas, block);
    const LikelyModes likely = likely_modes(above, left);
    const bool fitted = picture.least_squares && canvas.row + block.row >= kFittedFrom &&
                        canvas.column + block.column >= kFittedFrom;
    const auto decoded = [&](int y, int x) { return is_decoded(memory, y, x); };
    const int row = canvas.row + block.row, column = canvas.column + block.column;
    const uint64_t matched =
        picture.templates && templates_allowed(decoded, row, column, a, b);
    const uint64_t allowed = ((uint64_t{1} << (kLeastSquares + fitted)) - 1) | matched << kTemplates;
    const uint64_t promising = promising_modes(memory, block, likely, allowed);
    const bool matching = promising >> kTemplates & 1;
    const WindowPlaces places{memory.window, canvas.row, canvas.column};
    // Templates are searched by all warps but that of the fit.
    const int warp = threadIdx.x / 32, searcher = (warp + 1) % kBlockWarps;
    if (warp == 0) price_modes(memory, block, promising, likely, allowed);
    if (warp == 1) {
        const int units = length / kUnit;
        const int over = known_units(canvas, block.row - 1, block.column, 0, kUnit, units);
        const int beside = known_units(canvas, block.row, block.column - 1, kUnit, 0, units);
        gather_references(canvas, block.row, block.column, a, b, over * kUnit, beside * kUnit,
                          memory.predict);
    }
    if (warp == 2 && promising >> kLeastSquares & 1)
        predict_least_squares(canvas, block.row, block.column, a, b, canvas.columns, memory.fit,
                              memory.fitted);
    if (matching && searcher < kSearchers) {
        const int top = canvas.row, right = picture.width, end = decoded_end(memory);
        const auto end_of = [&](int y) {
            const int within = __shfl_sync(kAllLanes, end, max(0, y - top) / kUnit);
            return y < top ? right : within;
        };
        search_places(places, end_of, row, column, a, b, searcher, kSearchers,
                      memory.templates[searcher]);
    }
    __syncthreads();
    if (matching)
        average_places(places, row, column, a, b, picture.templates, kSearchers, memory.templates,
                       memory.matched);
    const int count = trial.count;
    for (int n = warp; n < count; n += kBlockWarps) {
        const int angle = angle_of(trial.modes[n]);
        if (angle < 0) continue;
        for (int k = line_start(angle, a, b) + threadIdx.x % 32; k < line_end(a, b); k += 32)
            memory.lines[n].samples[k] = line_sample(memory.predict, angle, a, b, k);
    }
    __syncthreads();

    // How good the modes look.
    const int pieces_log2 = a + b - 2 * kUnitLog2;
    const auto source_at = [&](int i, int j) {
        return int(memory.source[block.row + i][block.column + j]);
    };
    for (int i = threadIdx.x; i < count << pieces_log2; i += kBlockThreads) {
        const int number = i >> pieces_log2, n = i & ((1 << pieces_log2) - 1);
        const int mode = trial.modes[number];
        const int y = (n >> (b - kUnitLog2)) * kUnit, x = (n << kUnitLog2) & (width - 1);
        int difference[kUnit * kUnit];
        if (mode >= kLeastSquares) {
            const uint8_t* ready = mode == kLeastSquares ? memory.fitted : memory.matched;
            for (int k = 0; k < kUnit * kUnit; ++k) {
                const int row = y + k / kUnit, column = x + k % kUnit;
                difference[k] = source_at(row, column) - ready[(row << b) + column];
            }
        } else {
            Piece piece;
            predict_piece(mode, memory.predict, memory.lines[number], a, b, y, x, piece);
            for (int k = 0; k < kUnit * kUnit; ++k) {
                const int place = piece.place(k, kMaxSide);
                difference[k] = source_at(y + place / kMaxSide, x + place % kMaxSide) - piece.sample[k];
            }
        }
        add_by_key(trial.sums, number, hadamard_sum(difference), pieces_log2 >= 5);
    }
    __syncthreads();
    const auto estimate = [&](int n) { return (trial.sums[n] >> 1) + trial.sayings[n]; };
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
    while (tried < min(count, picture.tried) && estimate(trial.ranked[tried]) <= hopeless) ++tried;

    // The best of them in full.
    const int types_log2 = sine_allowed(a, b), types = 1 << types_log2;
    const int trials = tried << types_log2;
    const int rows = min(block.height(), kCodedSide), columns_log2 = min(b, kCodedSideLog2);
    const int coded_log2 = columns_log2 + min(a, kCodedSideLog2), shape = shape_number(a, b);
    const bool uniform = a + b >= 5;
    // Where the second type's part of a candidate's arrays begins.
    constexpr int kSecond = 1 << (2 * kMaxSineLog2);
    constexpr int kSecondMargin = ((1 << kMaxSineLog2) + 2) * ((1 << kMaxSineLog2) + 2);
    if (threadIdx.x < kMostTried) trial.bare[threadIdx.x] = 0;
    if (threadIdx.x < 2 * kMostTried) {
        trial.distortions[threadIdx.x] = 0;
        trial.trials[threadIdx.x].top = -1;
    }
    for (int i = threadIdx.x; i < tried << pieces_log2; i += kBlockThreads) {
        const int number = i >> pieces_log2, n = i & ((1 << pieces_log2) - 1);
        const int listed = trial.ranked[number], mode = trial.modes[listed];
        const int y = (n >> (b - kUnitLog2)) * kUnit, x = (n << kUnitLog2) & (width - 1);
        uint8_t* out = memory.candidates[number].prediction + (y << b) + x;
        if (mode >= kLeastSquares) {
            const uint8_t* ready = mode == kLeastSquares ? memory.fitted : memory.matched;
            for (int k = 0; k < kUnit * kUnit; ++k)
                out[(k / kUnit << b) + k % kUnit] =
                    ready[((y + k / kUnit) << b) + x + k % kUnit];
        } else {
            Piece piece;
            predict_piece(mode, memory.predict, memory.lines[listed], a, b, y, x, piece);
            for (int k = 0; k < kUnit * kUnit; ++k)
                out[piece.place(k, width)] = uint8_t(piece.sample[k]);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < tried << (a + b); i += kBlockThreads) {
        const int n = i >> (a + b), at = i & (area - 1);
        const int difference =
            source_at(at >> b, at & (width - 1)) - memory.candidates[n].prediction[at];
        add_by_key(trial.bare, n, difference * difference, uniform);
    }
    for (int i = threadIdx.x; i < tried * (kMostMargins / 4); i += kBlockThreads)
        reinterpret_cast<uint32_t*>(memory.candidates[i / (kMostMargins / 4)].magnitudes)
            [i % (kMostMargins / 4)] = 0;
    const int half_log2 = min(a, kCodedSideLog2) + b;
    for (int i = threadIdx.x; i < trials << half_log2; i += kBlockThreads) {
        const int t = i >> half_log2, at = i & ((1 << half_log2) - 1);
        const int n = t >> types_log2, type = t & (types - 1);
        Candidate& candidate = memory.candidates[n];
        const auto residual = [&](int y, int x) {
            return source_at(y, x) - candidate.prediction[(y << b) + x];
        };
        candidate.half[type * kSecond + at] =
            column_frequency(tables, residual, a, type, at >> b, at & (width - 1));
    }
    __syncthreads();
    const int32_t least = least_coefficient(picture.step);
    for (int i = threadIdx.x; i < trials << coded_log2; i += kBlockThreads) {
        const int t = i >> coded_log2, at = i & ((1 << coded_log2) - 1);
        const int n = t >> types_log2, type = t & (types - 1);
        Candidate& candidate = memory.candidates[n];
        const int16_t value =
            coefficient_of(tables, candidate.half + type * kSecond, b, type, at >> columns_log2,
                           at & ((1 << columns_log2) - 1));
        const int number = __ldg(&tables.order[shape][at]);
        candidate.coefficients[type * kSecond + number] = value;
        candidate.levels[type * kSecond + number] = 0;
        if (abs(int(value)) > least) atomicMax(&trial.trials[t].top, number);
    }
    __syncthreads();
    const int64_t split_bits = split_cost(memory, block, kWhole);
    const int32_t* kind_costs = memory.costs.bit[kind_model(a, b, kind_context(above, left))];
    const auto given = [&](int n) { return split_bits + trial.mode_costs[trial.ranked[n]]; };
    // One thread a transform, spread over the warps.
    const int own = threadIdx.x % 32 * kBlockWarps + threadIdx.x / 32;
    if (own < trials) {
        const int n = own >> types_log2, type = own & (types - 1);
        Candidate& candidate = memory.candidates[n];
        TransformTrial& mine = trial.trials[own];
        LevelScan scan(tables, a, b, candidate.magnitudes + type * kSecondMargin);
        const ChosenLevels chosen =
            choose_levels(scan, mine.top, candidate.coefficients + type * kSecond, picture.step,
                          memory.costs, candidate.levels + type * kSecond);
        mine.cost = kNever;
        if (chosen.last >= 0) {
            mine.cost = given(n) + kind_costs[kTransformed] + chosen.cost;
            const int mode = trial.modes[trial.ranked[n]];
            if (types == 2)
                mine.cost += memory.costs.bit[type_model(a, b, family_of(mode))][type];
        }
        // Beaten before its distortion is known.
        bool beaten = mine.cost >= bound;
        for (int other = 0; other < tried; ++other)
            beaten |= mine.cost > given(other) + kind_costs[kBare] +
                                      (int64_t{trial.bare[other]} << kCostFractionBits);
        mine.skipped = beaten;
    }
    __syncthreads();
    const auto rebuild_columns = [&](int t, int at) {
        Candidate& candidate = memory.candidates[t >> types_log2];
        const int type = t & (types - 1);
        candidate.half[type * kSecond + at] =
            column_sample(tables, candidate.coefficients + type * kSecond, a, b, type,
                          at >> columns_log2, at & ((1 << columns_log2) - 1));
    };
    const auto rebuilt_sample = [&](int t, int at) {
        const Candidate& candidate = memory.candidates[t >> types_log2];
        const int type = t & (types - 1);
        const int residual = residual_sample(tables, candidate.half + type * kSecond, a, b, type,
                                             at >> b, at & (width - 1));
        return max(0, min(255, candidate.prediction[at] + residual));
    };
    for (int i = threadIdx.x; i < trials << coded_log2; i += kBlockThreads) {
        const int t = i >> coded_log2, at = i & ((1 << coded_log2) - 1);
        if (trial.trials[t].skipped) continue;
        Candidate& candidate = memory.candidates[t >> types_log2];
        const int second = (t & (types - 1)) * kSecond;
        const int level = candidate.levels[second + __ldg(&tables.order[shape][at])];
        candidate.coefficients[second + at] = int16_t(dequantised(level, picture.step));
    }
    __syncthreads();
    const int columns_area_log2 = a + columns_log2;
    for (int i = threadIdx.x; i < trials << columns_area_log2; i += kBlockThreads) {
        const int t = i >> columns_area_log2;
        if (!trial.trials[t].skipped) rebuild_columns(t, i & ((1 << columns_area_log2) - 1));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < trials << (a + b); i += kBlockThreads) {
        const int t = i >> (a + b), at = i & (area - 1);
        int difference = 0;
        if (!trial.trials[t].skipped)
            difference = source_at(at >> b, at & (width - 1)) - rebuilt_sample(t, at);
        add_by_key(trial.distortions, t, difference * difference, uniform);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        trial.cost = bound;
        trial.best = -1;
        for (int n = 0; n < tried; ++n) {
            const int mode = trial.modes[trial.ranked[n]];
            const int64_t bare = given(n) + kind_costs[kBare] +
                                 (int64_t{trial.bare[n]} << kCostFractionBits);
            if (bare < trial.cost) {
                trial.cost = bare;
                trial.best = n * types;
                trial.node = pack_block(kWhole, mode, kBare, 0);
            }
            for (int type = 0; type < types; ++type) {
                const int t = n * types + type;
                const int64_t cost =
                    trial.trials[t].cost + (int64_t{trial.distortions[t]} << kCostFractionBits);
                if (trial.trials[t].skipped || cost >= trial.cost) continue;
                trial.cost = cost;
                trial.best = t;
                trial.node = pack_block(kWhole, mode, kTransformed, type);
            }
        }
    }
    __syncthreads();
    if (trial.best < 0) return kNever;

    const RecordLayout layout(a, b);
    const uint16_t node = trial.node;
    const int t = trial.best, n = t >> types_log2;
    const bool transformed = kind_of(node) == kTransformed;
    uint8_t* samples = record + layout.samples;
    int16_t* levels = reinterpret_cast<int16_t*>(record + layout.levels);
    for (int i = threadIdx.x; i < area; i += kBlockThreads) {
        samples[i] =
            transformed ? uint8_t(rebuilt_sample(t, i)) : memory.candidates[n].prediction[i];
        const int y = i >> b, x = i & (width - 1);
        const bool coded = transformed && y < rows && x < 1 << columns_log2;
        int16_t level = 0;
        if (coded)
            level = memory.candidates[n].levels[(t & (types - 1)) * kSecond +
                                                __ldg(&tables.order[shape][(y << columns_log2) + x])];
        levels[i] = level;
    }
    Unit* units = reinterpret_cast<Unit*>(record + layout.units);
    for (int i = threadIdx.x; i < area / (kUnit * kUnit); i += kBlockThreads) {
        Unit unit;
        unit.a = uint8_t(a), unit.b = uint8_t(b);
        unit.mode = uint8_t(mode_of(node)), unit.kind = uint8_t(kind_of(node));
        units[i] = unit;
    }
    if (threadIdx.x == 0) {
        *reinterpret_cast<uint16_t*>(record + layout.nodes) = node;
        Record& head = *reinterpret_cast<Record*>(record);
        head.cost = trial.cost;
        head.nodes = 1;
    }
    __syncthreads();
    return trial.cost;
}

// ---------------------------------------------------------------- all ways of all blocks

struct Frame {
    Place block;
    int first, last;       // workers at it
    bool begun, parted;    // parted: each team tries one way
    uint32_t hash;         // of what it depends on
    int64_t bound, least;  // what all ways, and the next one, must cost less than
    const uint8_t* best;   // record of the best way so far, or null
    int way, half;         // being tried
    int64_t cost;          // of this way so far
    const uint8_t* halves[2];

    __device__ int middle() const { return (first + last) / 2; }
    __device__ bool alone() const { return last - first == 1; }
};

constexpr int kMostFrames = 2 * (kMaxSideLog2 - kMinSideLog2) + 1;

class Search {
public:
    __device__ explicit Search(Worker& worker) : worker_(worker) {}

    // The best record of a fragment. All threads of all workers of the picture take part.
    __device__ const uint8_t* run() {
        forget();
        depth_ = -1;
        const int side = memory().picture.fragment_log2;
        descend({0, 0, side, side}, 0, worker_.workers, kNever);
        while (true) {
            Frame& frame = frames_[depth_];
            if (frame.begun || !recall(frame)) {
                if (!frame.begun) begin(frame);
                if (next_half(frame)) continue;
                if (frame.way) end_way(frame);
                if (next_way(frame)) continue;
                finish(frame);
            }
            if (depth_ == 0) return found_;
            take(frames_[--depth_]);
        }
    }

private:
    __device__ static SearchMemory& memory() { return search_memory(); }
    __device__ static Canvas& canvas() { return memory().canvas; }

    __device__ void forget() {
        for (int i = threadIdx.x; i < kBlocks; i += kBlockThreads) {
            Findings& findings = reinterpret_cast<Findings*>(worker_.own_memory())[i];
            for (uint32_t& hash : findings.hash) hash = 0;
            findings.spare = 0, findings.next = 1;
        }
        __syncthreads();
    }

    __device__ void descend(const Place& block, int first, int last, int64_t bound) {
        Frame& frame = frames_[++depth_];
        frame.block = block;
        frame.first = first, frame.last = last;
        frame.bound = bound;
        frame.begun = false;
    }

    // Whether a search with the same surroundings has already answered; its best is what is found.
    __device__ bool recall(Frame& frame) {
        if (!frame.alone()) return false;
        const Place& block = frame.block;
        see_surroundings(memory(), block);
        frame.hash = memory().hash | 1;
        const Findings& findings = worker_.findings(block);
        for (int slot = 0; slot < kSlots; ++slot) {
            if (findings.hash[slot] != frame.hash) continue;
            const uint8_t* record = worker_.record(block, slot);
            if (!seen_before(memory(), block, record)) continue;
            const Record& head = *reinterpret_cast<const Record*>(record);
            found_ = head.cost < frame.bound ? record : nullptr;
            if (head.cost < kNever || frame.bound <= head.bound) return true;
        }
        return false;
    }

    // Tries the block as a whole.
    __device__ void begin(Frame& frame) {
        const Place& block = frame.block;
        Findings& findings = worker_.findings(block);
        if (frame.alone()) {
            // Either record may become the finding.
            const int words = surrounding_words(block.a, block.b);
            const int start = RecordLayout(block.a, block.b).surroundings;
            uint32_t* one = reinterpret_cast<uint32_t*>(
                worker_.record(block, findings.spare) + start);
            uint32_t* other = reinterpret_cast<uint32_t*>(
                worker_.record(block, findings.next) + start);
            for (int i = threadIdx.x; i < words; i += kBlockThreads)
                one[i] = other[i] = memory().surroundings[i];
            if (threadIdx.x == 0) findings.hash[findings.next] = 0;
        }
        frame.begun = true;
        frame.best = nullptr;
        frame.least = frame.bound;
        const int worth = memory().worth[block.number()];
        frame.parted = !frame.alone() && (worth >> kSplitColumns & 3) == 3;
        frame.way = kWhole;
        frame.half = 2;
        if (!(worth & 1)) return;
        uint8_t* record = worker_.record(block, findings.spare);
        const int64_t cost = try_whole(memory(), block, frame.least, record);
        if (cost >= frame.least) return;
        frame.least = cost;
        frame.best = record;
    }

    // Goes on to the next half of a block that is split, if there is one and it may still pay.
    __device__ bool next_half(Frame& frame) {
        while (frame.half < 2 &&
               outside(canvas(), half_of(frame.block, frame.way, frame.half)))
            frame.halves[frame.half++] = nullptr;
        if (frame.half == 2) return false;
        if (frame.cost >= frame.least) return false;
        const bool second = frame.parted && frame.way == kSplitRows;
        const int first = second ? frame.middle() : frame.first;
        const int last = frame.parted && !second ? frame.middle() : frame.last;
        descend(half_of(frame.block, frame.way, frame.half), first, last,
                frame.least - frame.cost);
        return true;
    }

    // Takes the half that has come back.
    __device__ void take(Frame& frame) {
        frame.halves[frame.half] = found_;
        if (found_) {
            show(memory(), half_of(frame.block, frame.way, frame.half), found_);
            frame.cost += reinterpret_cast<const Record*>(found_)->cost;
            ++frame.half;
        } else {
            frame.cost = kNever;
            frame.half = 2;
        }
    }

    __device__ void end_way(Frame& frame) {
        if (frame.cost < frame.least) {
            const Findings& findings = worker_.findings(frame.block);
            uint8_t* record = worker_.record(frame.block, findings.spare);
            if (record == frame.best) record = worker_.record(frame.block, findings.next);
            gather(canvas(), frame.block, frame.way, frame.cost, frame.halves, record);
            frame.least = frame.cost;
            frame.best = record;
        }
        mark(canvas(), frame.block, Unit{});
        __syncthreads();
    }

    __device__ bool next_way(Frame& frame) {
        const int worth = memory().worth[frame.block.number()];
        for (int way = frame.way + 1; way <= kSplitRows; ++way) {
            const bool first = worker_.number < frame.middle();
            if (!(worth >> way & 1) || (frame.parted && first != (way == kSplitColumns))) continue;
            frame.way = way;
            frame.half = 0;
            frame.cost = split_cost(memory(), frame.block, way);
            return true;
        }
        return false;
    }

    __device__ void finish(Frame& frame) {
        if (frame.parted) share(frame);
        if (frame.alone()) keep(frame);
        found_ = frame.best;
    }

    // The way that the other team tried counts as well.
    __device__ void share(Frame& frame) {
        Mail& mail = worker_.state.mail[worker_.team_number(frame.first, frame.last)];
        const bool second = worker_.number >= frame.middle();
        if (threadIdx.x == 0 && worker_.number == (second ? frame.middle() : frame.first)) {
            mail.cost[second] = frame.best ? frame.least : kNever;
            mail.record[second] = frame.best;
        }
        worker_.meet(frame.first, frame.last);
        // Both know the block as a whole, which goes before its splits; columns go before rows.
        const volatile Mail& seen = mail;
        const bool better = seen.cost[1] < seen.cost[0];
        frame.least = seen.cost[better];
        frame.best = seen.record[better];
        worker_.meet(frame.first, frame.last);
    }

    __device__ void keep(Frame& frame) {
        Findings& findings = worker_.findings(frame.block);
        const int spare = findings.spare, next = findings.next;
        const bool is_next = frame.best == worker_.record(frame.block, next);
        const int kept = is_next ? next : spare, free = is_next ? spare : next;
        __syncthreads();
        if (threadIdx.x == 0) {
            Record& head = *reinterpret_cast<Record*>(worker_.record(frame.block, kept));
            head.bound = frame.bound;
            if (!frame.best) head.cost = kNever;
            findings.hash[kept] = frame.hash;
            findings.spare = free;
            const int after = (next + 1) % kSlots;
            findings.next = after == free ? (after + 1) % kSlots : after;
        }
        __syncthreads();
    }

    Worker& worker_;
    Frame frames_[kMostFrames];
    int depth_;
    const uint8_t* found_;
};

}  // namespace mmp
