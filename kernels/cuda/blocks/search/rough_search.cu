// Survey (rough mode decision): promising modes of all blocks of some fragments, predicted from the
// coarse source. It depends on no decoded sample, so all blocks are rough_modes in parallel.
#include "cuda/blocks/planes.cuh"
#include "cuda/blocks/prediction.cuh"
#include "cuda/blocks/templates.cuh"
#include "cuda/blocks/transform.cuh"
#include "cuda/blocks/weights.cuh"
#include "cuda/blocks/search/rounded.cuh"
#include "shared/blocks/dependent.h"
#include "shared/blocks/syntax.h"

using namespace mmp;

namespace {

struct RoughMemory {
    PredictMemory predict;
    Line lines[kAngles];
    int32_t sums[kAllModes];
    uint8_t looked[kAllModes], ranked[kAllModes];  // modes in order of examination, and by SATD
    unsigned long long squares;      // of the residual
    unsigned long long coded, kept;  // of its coefficients, before and after division by weights
    RoundedLevels rounded;
    int64_t least;  // least cost of the error or the rounded levels of a mode
    Sample source[kMaxBlockArea];
    Sample slow[kSlowModes][kMaxBlockArea];  // predictions by the slow modes
    TemplateMemory templates[kBlockWarps];
    union {
        PlanesMemory fit;
        struct {
            Sample prediction[kMaxBlockArea];
            int16_t half[kCodedSide * kMaxSide];
        };
    };
};

// View of the coarse plane for the template search. Words before and after the plane are readable.
struct PlanePlaces {
    const uint8_t* bytes;
    const Sample* samples;
    int stride;

    __device__ const uint8_t* pointer(int row, int column) const {
        return bytes + int64_t{row} * stride + column;
    }
    __device__ const Sample* sample(int row, int column) const {
        return samples + int64_t{row} * stride + column;
    }
};

// Reference line of a mode; modes other than angles do not read it.
__device__ const Line& line_of(const RoughMemory& memory, int mode) {
    return memory.lines[max(0, angle_of(mode))];
}

// A block to survey, in coordinates of the picture.
struct RoughBlock {
    int row, column, a, b;
    int top, left, side;  // of its fragment
    int32_t step;         // equivalent step of independent levels
    int32_t plain;        // cost of a bit
    SampleDepth depth;    // of its fragment

    __device__ int height() const { return 1 << a; }
    __device__ int width() const { return 1 << b; }
    __device__ int area() const { return 1 << (a + b); }
    // In coordinates of the fragment.
    __device__ BlockPlace inside() const { return {row - top, column - left, a, b}; }
    __device__ int pieces_log2() const { return a + b - 2 * kUnitLog2; }
};

__device__ PlaneView view_of(const BlockPicture& picture) {
    return {picture.coarse, picture.width, picture.height};
}

// Whether the mean difference per sample, times the factor, is at least the quantisation step in
// 1/16 of a sample's unit.
__device__ bool is_large(const RoughBlock& block, int difference, int factor, int32_t step) {
    return factor == kAlways ||
           factor * int64_t{difference} >= int64_t{step} << (block.a + block.b + block.depth.kept());
}

// Writes the prediction of a block by a mode to memory.prediction, row by row.
__device__ void predict_block(int mode, RoughMemory& memory, const RoughBlock& block) {
    const int a = block.a, b = block.b, pieces_across = 1 << (b - kUnitLog2);
    for (int i = threadIdx.x; i < 1 << block.pieces_log2(); i += kBlockThreads)
        write_piece(mode, memory.predict, line_of(memory, mode), memory.slow[0], a, b,
                    i / pieces_across * kUnit, i % pieces_across * kUnit, memory.prediction);
}

// Loads the source of a block and its references: the samples of the coarse source that are decoded
// before the block.
__device__ void load_block(const BlockPicture& picture, RoughMemory& memory,
                           const RoughBlock& block) {
    const int row = block.row, column = block.column, a = block.a, b = block.b;
    for (int i = threadIdx.x; i < block.area(); i += kBlockThreads)
        memory.source[i] = picture.source[int64_t{row + (i >> b)} * picture.width + column +
                                          (i & (block.width() - 1))];
    const int length = block.height() + block.width();
    const int right = row == block.top ? picture.width : column + block.width();
    const int bottom =
        min(column == block.left ? block.top + block.side : row + block.height(), picture.height);
    if (threadIdx.x < 32)
        gather_references(view_of(picture), row, column, a, b, row ? min(right - column, length) : 0,
                          column ? min(bottom - row, length) : 0, picture.tools.pdpc,
                          block.depth, memory.predict);
    __syncthreads();
}

// Computes twice the SATD of each mode in the bit mask `modes`. `before` is the number of modes
// examined before; returns the new number.
__device__ int look_at(RoughMemory& memory, const RoughBlock& block, uint64_t modes, int before) {
    const int a = block.a, b = block.b, pieces_log2 = block.pieces_log2(), count = __popcll(modes);
    const int mode = threadIdx.x;
    if (mode < kAllModes && modes >> mode & 1) {
        memory.looked[before + __popcll(modes & ((uint64_t{1} << mode) - 1))] = uint8_t(mode);
        memory.sums[mode] = 0;
    }
    __syncthreads();
    for (int n = threadIdx.x / 32; n < count; n += kBlockWarps) {
        const int angle = angle_of(memory.looked[before + n]);
        if (angle < 0) continue;
        for (int k = line_start(angle, a, b) + threadIdx.x % 32; k < line_end(a, b); k += 32)
            memory.lines[angle].samples[k] = line_sample(memory.predict, angle, a, b, k);
    }
    __syncthreads();
    const auto source = [&](int i, int j) { return int(memory.source[(i << b) + j]); };
    for (int i = threadIdx.x; i < count << pieces_log2; i += kBlockThreads) {
        const int mode = memory.looked[before + (i >> pieces_log2)];
        const int n = i & ((1 << pieces_log2) - 1);
        const int y = (n >> (b - kUnitLog2)) * kUnit, x = (n << kUnitLog2) & (block.width() - 1);
        // Angles are compared without PDPC, as on the host.
        const int sum = piece_difference(mode, memory.predict, line_of(memory, mode), memory.slow[0],
                                         a, b, y, x, source, angle_of(mode) < 0);
        add_by_key(memory.sums, mode, sum, pieces_log2 >= 5);
    }
    __syncthreads();
    return before + count;
}

// SATD of a mode in the unit of costs.
__device__ int difference_of(const RoughMemory& memory, int mode) {
    return memory.sums[mode] >> (1 + memory.predict.depth.coarser());
}

// Ranks the examined modes by SATD.
__device__ void rank_modes(RoughMemory& memory, int count) {
    if (threadIdx.x < count) {
        const int mode = memory.looked[threadIdx.x], own = difference_of(memory, mode);
        int rank = 0;
        for (int i = 0; i < count; ++i) {
            const int other = memory.looked[i], its = difference_of(memory, other);
            rank += its < own || (its == own && other < mode);
        }
        memory.ranked[rank] = uint8_t(mode);
    }
    __syncthreads();
}

// Best modes of the two halves of an oblong block and of the block that it is a half of; all three
// are less oblong. `rough_modes` holds the rough search's results for the blocks of the fragment.
__device__ uint64_t inherited_modes(const BlockPicture& picture, const RoughBlock& block,
                                    const RoughModes* rough_modes) {
    const BlockPlace own = block.inside();
    const int flag = own.b > own.a ? kColumns : kRows;
    uint64_t modes = 0;
    for (int half = 0; half < 2; ++half)
        modes |= uint64_t{1} << rough_modes[block_number(part_of(own, flag, half))].best[0];
    BlockPlace around = own;
    if (flag == kColumns)
        around.row &= -(2 << own.a), ++around.a;
    else
        around.column &= -(2 << own.b), ++around.b;
    if (block.top + around.row + around.height() > picture.height) return modes;
    if (block.left + around.column + around.width() > picture.width) return modes;
    for (const uint8_t mode : rough_modes[block_number(around)].best) modes |= uint64_t{1} << mode;
    return modes;
}

// Best modes of the aligned blocks of equal shape that overlap a block, which only a ternary split
// creates.
__device__ uint64_t overlapping_modes(const BlockPicture& picture, const RoughBlock& block,
                                      const RoughModes* rough_modes) {
    const BlockPlace own = block.inside();
    uint64_t modes = 0;
    for (int row = own.row & -own.height(); row < own.row + own.height(); row += own.height())
        for (int column = own.column & -own.width(); column < own.column + own.width();
             column += own.width()) {
            const BlockPlace other{row, column, own.a, own.b};
            if (!is_rough_searched(picture, other, picture.height - block.top,
                                   picture.width - block.left))
                continue;
            for (const uint8_t mode : rough_modes[block_number(other)].best)
                modes |= uint64_t{1} << mode;
        }
    return modes;
}

// Modes that a block inherits from other blocks; all modes for an aligned square.
__device__ uint64_t modes_around(const BlockPicture& picture, const RoughBlock& block,
                                 const RoughModes* rough_modes) {
    if (!is_aligned(block.inside())) return overlapping_modes(picture, block, rough_modes);
    return block.a == block.b ? ~uint64_t{0} : inherited_modes(picture, block, rough_modes);
}

// Whether a block lies in an aligned square that is settled, so that the rough search skips it.
__device__ bool is_settled(const BlockPicture& picture, const RoughBlock& block,
                           const RoughModes* rough_modes) {
    const BlockPlace own = block.inside();
    const int last_row = own.row + own.height() - 1, last = own.column + own.width() - 1;
    for (int log2 = max(own.a, own.b); log2 <= picture.tools.fragment_log2; ++log2) {
        const int start = -1 << log2;
        if ((own.row ^ last_row) & start || (own.column ^ last) & start) continue;
        const BlockPlace square{own.row & start, own.column & start, log2, log2};
        if (square.a == own.a && square.b == own.b) continue;
        return is_rough_searched(picture, square, picture.height - block.top,
                                 picture.width - block.left) &&
               rough_modes[block_number(square)].settled;
    }
    return false;
}

// Examines the angles of a block that the effort allows. Returns the number of modes examined.
__device__ int look_at_angles(const BlockPicture& picture, RoughMemory& memory,
                              const RoughBlock& block, const RoughModes* rough_modes, int count) {
    constexpr uint64_t kEvery = ((uint64_t{1} << kAngles) - 1) << kFirstAngle;
    if (picture.effort.every_angle) return look_at(memory, block, kEvery, count);
    if (const uint64_t around = modes_around(picture, block, rough_modes); ~around)
        return look_at(memory, block, around & kEvery, count);
    const auto difference = [&](int angle) { return memory.sums[kFirstAngle + angle] >> 1; };
    constexpr int kCoarseAngles = 4;
    uint64_t which = 0;
    for (int angle = 0; angle < kAngles; angle += kCoarseAngles)
        which |= uint64_t{1} << (kFirstAngle + angle);
    count = look_at(memory, block, which, count);
    int best = 0;
    for (int angle = 0; angle < kAngles; angle += kCoarseAngles)
        if (difference(angle) < difference(best)) best = angle;
    for (int apart = kCoarseAngles / 2; apart; apart /= 2) {
        const int before = best - apart, after = best + apart;
        which = 0;
        if (before >= 0) which |= uint64_t{1} << (kFirstAngle + before);
        if (after < kAngles) which |= uint64_t{1} << (kFirstAngle + after);
        count = look_at(memory, block, which, count);
        if (before >= 0 && difference(before) < difference(best)) best = before;
        if (after < kAngles && difference(after) < difference(best)) best = after;
    }
    return count;
}

// The slow modes that the effort lets a block examine, as a bit mask.
__device__ uint64_t slow_modes(const BlockPicture& picture, const RoughBlock& block,
                               const RoughModes* rough_modes) {
    const uint64_t planes =
        planes_modes(picture.tools, {block.row, block.column, block.a, block.b});
    const uint64_t slow = uint64_t{1} << kTemplates | planes;
    return picture.effort.inherited ? slow & modes_around(picture, block, rough_modes) : slow;
}

// What cross-component prediction reads in the rough search.
struct RoughPlanes {
    const BlockPicture& picture;

    __device__ int own(int row, int column) const {
        return picture.coarse[int64_t{row} * picture.width + column];
    }
    __device__ int earlier(int which, int row, int column) const {
        return earlier_sample(picture, which, row, column);
    }
};

// Examines modes from earlier planes. Returns the number of modes examined.
__device__ int look_at_planes(const BlockPicture& picture, RoughMemory& memory,
                              const RoughBlock& block, uint64_t modes, int count) {
    for (int mode = kCrossComponent; mode < kAllModes; ++mode) {
        if (!(modes >> mode & 1)) continue;
        const PlanesPrediction prediction(memory.fit, RoughPlanes{picture},
                                          picture.tools.cross_component, block.depth.bits,
                                          {block.row, block.column, block.a, block.b}, mode);
        Sample* out = memory.slow[mode - kTemplates];
        for (int i = threadIdx.x; i < block.area(); i += kBlockThreads)
            out[i] = Sample(prediction(i >> block.b, i & (block.width() - 1)));
        __syncthreads();
    }
    return look_at(memory, block, modes, count);
}

// Adds template matching to the ranked modes. It is slow, so it runs only where the other modes
// leave a large SATD, and counts only if at most one other mode is better. Returns the number of
// modes.
__device__ int rank_templates(const BlockPicture& picture, RoughMemory& memory,
                              const RoughBlock& block, uint64_t slow, int modes) {
    const int row = block.row, column = block.column, a = block.a, b = block.b;
    const int top = block.top, pieces_log2 = block.pieces_log2();
    const int best = difference_of(memory, memory.ranked[0]);
    const int next = difference_of(memory, memory.ranked[1]);
    const auto end_of = [&](int y) {
        if (y < top) return picture.width;
        if (y < row) return column + block.width();
        if (y < row + block.height()) return column;
        return y < min(top + block.side, picture.height) ? block.left : 0;
    };
    const auto decoded = [&](int y, int x) { return x < end_of(y); };
    const int32_t step = min(block.step, kMostMatchedStep);
    if (!picture.tools.templates || !(slow >> kTemplates & 1) || !is_large(block, best, picture.effort.matching, step) ||
        !templates_allowed(decoded, row, column, a, b))
        return modes;
    if (threadIdx.x == 0) memory.sums[kTemplates] = 0;
    const uint8_t* bytes =
        kDeep ? picture.coarse_bytes : reinterpret_cast<const uint8_t*>(picture.coarse);
    const PlanePlaces places{bytes, picture.coarse, picture.width};
    const int searcher = threadIdx.x / 32;
    search_places(places, end_of, row, column, a, b, searcher, kBlockWarps,
                  memory.templates[searcher]);
    __syncthreads();
    average_places(places, row, column, a, b, picture.tools.templates, kBlockWarps, memory.templates,
                   memory.slow[0]);
    __syncthreads();
    for (int i = threadIdx.x; i < 1 << pieces_log2; i += kBlockThreads) {
        const int y = (i >> (b - kUnitLog2)) * kUnit, x = (i << kUnitLog2) & (block.width() - 1);
        int difference[kUnit * kUnit];
        for (int k = 0; k < kUnit * kUnit; ++k) {
            const int at = ((y + k / kUnit) << b) + x + k % kUnit;
            difference[k] = memory.source[at] - memory.slow[0][at];
        }
        atomicAdd(&memory.sums[kTemplates], hadamard_sum(difference));
    }
    __syncthreads();
    const int own = difference_of(memory, kTemplates);
    if (own >= next) return modes;
    if (threadIdx.x == 0) {
        const int rank = own > best || (own == best && memory.ranked[0] < kTemplates);
        for (int i = modes; i > rank; --i) memory.ranked[i] = memory.ranked[i - 1];
        memory.ranked[rank] = kTemplates;
    }
    __syncthreads();
    return modes + 1;
}

// Writes, for the best modes of a block, the energy of the residual and either its coefficients in
// scan order or the estimate of its rounded levels. `number` is the block number in its fragment,
// `slot` the number of the fragment in the launch.
__device__ void transform_best(const BlockPicture& picture, const SearchRoom& room,
                               RoughMemory& memory, const RoughBlock& block, int number, int slot,
                               int modes) {
    const BlockTables& tables = *picture.tables;
    const int a = block.a, b = block.b, width = block.width(), shape = shape_number(a, b);
    const int rows = min(block.height(), kCodedSide), columns_log2 = min(b, kCodedSideLog2);
    const int coded_log2 = min(a, kCodedSideLog2) + columns_log2;
    const int rough = picture.effort.rough, strength = picture.tools.quantisation_matrix;
    const BlockPlace placed{block.row, block.column, a, b};
    const int weight = weight_in(picture, placed);
    const int first = place_in_shape(block.inside());
    const auto residual = [&](int i, int j) {
        const int at = (i << b) + j;
        return (memory.source[at] - memory.prediction[at]) >> block.depth.unseen();
    };
    for (int r = 0; r < min(rough, modes); ++r) {
        if (threadIdx.x == 0) memory.squares = 0, memory.coded = memory.kept = 0, memory.rounded = {};
        predict_block(memory.ranked[r], memory, block);
        __syncthreads();
        for (int i = threadIdx.x; i < block.area(); i += kBlockThreads)
            add_square(memory.squares, memory.source[i] - memory.prediction[i]);
        for (int i = threadIdx.x; i < rows << b; i += kBlockThreads)
            memory.half[i] =
                column_frequency(tables, residual, a, kCosine, i >> b, i & (width - 1),
                                 block.depth.seen());
        __syncthreads();
        const uint16_t* order = tables.order[shape];
        int16_t* out = room.coefficients +
                       ((int64_t{slot} * rough + r) * kShapes + shape) * kShapeArea + first;
        for (int i = threadIdx.x; i < 1 << coded_log2; i += kBlockThreads) {
            const int row = i >> columns_log2, column = i & ((1 << columns_log2) - 1);
            int16_t value = coefficient_of(tables, memory.half, b, kCosine, row, column);
            if (strength) {
                const int16_t whole = value;
                value = divided_coefficient(tables, strength, a, b, row, column, whole);
                add_squares(memory.coded, memory.kept, whole, value);
            }
            if (picture.effort.rounded)
                memory.rounded.add(value, order[i], block.step, coded_log2);
            else
                out[order[i]] = value;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            const SampleDepth depth = block.depth;
            int64_t energy = depth.of_squares(int64_t(memory.squares));
            if (strength) {
                const WeightedErrors errors =
                    weighted_error(tables, strength, a, b, depth, int64_t(memory.squares),
                                   memory.coded, memory.kept);
                energy = weighed(depth.of_coefficients(errors.all), weight);
            }
            const int64_t kept = memory.rounded.energy() << 2 * depth.kept();
            const RoughResidual residual{weighed(kept, weight), energy, memory.rounded.rate(), 0};
            room.residuals[(int64_t{slot} * kBlocks + number) * rough + r] = residual;
            const int64_t coded = residual_cost(estimated_rate(residual.bits, block.plain), energy,
                                                residual.kept);
            memory.least = min(r ? memory.least : kNever, min(energy, coded));
        }
        __syncthreads();
    }
}

}  // namespace

extern "C" __device__ uint32_t shared_bytes = sizeof(RoughMemory);

// Searches the blocks with these numbers in the fragments of the tickets from `first` on. Grid:
// (numbers, tickets); occupancy: five CUDA blocks per multiprocessor.
extern "C" __global__ void __launch_bounds__(kBlockThreads, 5)
    search_roughly(const BlockPicture* pictures, const SearchRoom* rooms, int first,
                   const uint16_t* numbers) {
    extern __shared__ __align__(16) uint8_t shared[];
    RoughMemory& memory = *reinterpret_cast<RoughMemory*>(shared);
    const SearchRoom& room = *rooms;
    const Ticket ticket = room.tickets[first + blockIdx.y];
    const BlockPicture& picture = pictures[ticket.picture];
    const BlockEffort& effort = picture.effort;
    const int side = 1 << picture.tools.fragment_log2;
    const int top = ticket.row * side, left = ticket.column * side;
    const int number = numbers[blockIdx.x];
    const BlockPlace place = block_of(number);
    const int fragment = fragment_at(picture, top, left);
    const int32_t step = independent_step(step_in(picture, fragment), picture.tools.dependent);
    const int64_t lambda = picture.lambdas[fragment];
    SampleDepth depth = picture.depth;
    depth.finer = finer_bits(lambda, depth.extra());
    const auto plain = int32_t(lagrangian(1 << kRateFractionBits, lambda << 2 * depth.finer));
    const RoughBlock block{top + place.row, left + place.column, place.a, place.b, top, left, side,
                           step,            plain,               depth};
    if (!is_rough_searched(picture, place, picture.height - top, picture.width - left)) return;
    RoughModes* rough_modes = room.rough_modes + int64_t{blockIdx.y} * kBlocks;
    if (effort.settled && is_settled(picture, block, rough_modes)) {
        if (threadIdx.x) return;
        room.modes[int64_t{blockIdx.y} * kBlocks + number] = 0;
        rough_modes[number] = {{kAverage, kPlanar}, 0, true};
        return;
    }
    load_block(picture, memory, block);
    const auto difference = [&](int mode) { return difference_of(memory, mode); };
    int count = look_at(memory, block, 1 << kAverage | 1 << kPlanar, 0);
    const int simple = min(difference(kAverage), difference(kPlanar));
    const uint64_t slow = slow_modes(picture, block, rough_modes);
    const uint64_t planes = slow >> kCrossComponent << kCrossComponent;
    if (planes) count = look_at_planes(picture, memory, block, planes, count);
    bool planes_suffice = false;
    for (int mode = kCrossComponent; mode < kAllModes; ++mode)
        planes_suffice |= !effort.every_angle && planes >> mode & 1 &&
                          int64_t{3} * difference(mode) < int64_t{2} * simple;
    if (!planes_suffice &&
        is_large(block, simple, effort.angles, step))
        count = look_at_angles(picture, memory, block, rough_modes, count);
    rank_modes(memory, count);
    count = rank_templates(picture, memory, block, slow, count);
    if (threadIdx.x == 0) {
        uint64_t promising = 0;
        for (int i = 0; i < min(effort.kept, count); ++i)
            promising |= uint64_t{1} << memory.ranked[i];
        room.modes[int64_t{blockIdx.y} * kBlocks + number] = promising;
    }
    transform_best(picture, room, memory, block, number, blockIdx.y, count);
    if (threadIdx.x) return;
    const bool settled = place.a == place.b && is_aligned(place) &&
                         is_cheap(memory.least, plain, effort.settled);
    rough_modes[number] = {{memory.ranked[0], memory.ranked[1]}, uint8_t(count), settled};
}
