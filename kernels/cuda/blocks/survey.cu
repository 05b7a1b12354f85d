// A look at all blocks of some fragments, as far as it depends on nothing decoded.
#include "cuda/blocks/predict.cuh"
#include "cuda/blocks/templates.cuh"
#include "cuda/blocks/transform.cuh"

using namespace mmp;

namespace {

struct SurveyMemory {
    PredictMemory predict;
    FitMemory fit;
    Line lines[kAngles];
    int32_t sums[kModes];
    uint8_t ranked[kModes];
    int32_t energy;
    uint8_t source[kMaxBlockArea], fitted[kMaxBlockArea], matched[kMaxBlockArea];
    uint8_t prediction[kMaxBlockArea];
    int16_t half[kCodedSide * kMaxSide];
    TemplateMemory templates[kBlockWarps];
};

// The plane as templates see it. Before and behind it there are other arrays.
struct PlanePlaces {
    const uint8_t* samples;
    int stride;

    __device__ const uint8_t* pointer(int row, int column) const {
        return samples + int64_t{row} * stride + column;
    }
};

// Only angles have one.
__device__ const Line& line_of(const SurveyMemory& memory, int mode) {
    return memory.lines[max(0, angle_of(mode))];
}

// Writes a prediction row by row.
__device__ void predict_block(int mode, const SurveyMemory& memory, int a, int b, uint8_t* out) {
    const int pieces_across = 1 << (b - kUnitLog2);
    for (int i = threadIdx.x; i < 1 << (a + b - 2 * kUnitLog2); i += kBlockThreads) {
        const int row = i / pieces_across * kUnit, column = i % pieces_across * kUnit;
        uint8_t* at = out + (row << b) + column;
        const uint8_t* ready = mode == kLeastSquares ? memory.fitted : memory.matched;
        Piece piece;
        if (mode < kLeastSquares)
            predict_piece(mode, memory.predict, line_of(memory, mode), a, b, row, column, piece);
        for (int n = 0; n < kUnit * kUnit; ++n) {
            if (mode >= kLeastSquares)
                at[(n / kUnit << b) + n % kUnit] =
                    ready[((row + n / kUnit) << b) + column + n % kUnit];
            else
                at[piece.place(n, 1 << b)] = uint8_t(piece.sample[n]);
        }
    }
}

}  // namespace

// Grid: (kBlocks, fragments, pictures), the first of the fragments being `first`; a multiprocessor has
// room for five.
extern "C" __global__ void __launch_bounds__(kBlockThreads, 5)
    survey_blocks(BlockState* states, int first) {
    __shared__ SurveyMemory memory;
    BlockState& state = states[blockIdx.z];
    const BlockPicture& picture = state.picture;
    // The barriers of the search that follows.
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x < 2 * kMostWorkers)
        state.arrived[threadIdx.x] = 0;
    const int side = 1 << picture.fragment_log2;
    const int across = (picture.width + side - 1) / side;
    const int fragment = first + blockIdx.y;
    const int top = fragment / across * side, start = fragment % across * side;
    if (top >= picture.height) return;
    const Place block = Place::of(blockIdx.x);
    const int a = block.a, b = block.b, height = 1 << a, width = 1 << b;
    const int row = top + block.row, column = start + block.column;
    if (block.row + height > side || block.column + width > side) return;
    if (row + height > picture.height || column + width > picture.width) return;

    for (int i = threadIdx.x; i < block.area(); i += kBlockThreads)
        memory.source[i] =
            picture.source[int64_t{row + (i >> b)} * picture.width + column + (i & (width - 1))];
    if (threadIdx.x < kModes) memory.sums[threadIdx.x] = 0;
    // What a coder that goes from the top left would know around the block.
    const PlaneView view{picture.coarse, picture.width, picture.height};
    const int length = height + width;
    const int right = row == top ? picture.width : column + width;
    const int bottom = min(column == start ? top + side : row + height, picture.height);
    if (threadIdx.x < 32)
        gather_references(view, row, column, a, b, row ? min(right - column, length) : 0,
                          column ? min(bottom - row, length) : 0, memory.predict);
    const bool fitted = picture.least_squares && row >= kFittedFrom && column >= kFittedFrom;
    if (fitted && threadIdx.x / 32 == 1)
        predict_least_squares(view, row, column, a, b, picture.width, memory.fit,
                              memory.fitted);
    __syncthreads();
    for (int angle = threadIdx.x / 32; angle < kAngles; angle += kBlockWarps)
        for (int k = line_start(angle, a, b) + threadIdx.x % 32; k < line_end(a, b); k += 32)
            memory.lines[angle].samples[k] = line_sample(memory.predict, angle, a, b, k);
    __syncthreads();
    const int modes = kLeastSquares - kAverage + fitted;
    const int pieces_log2 = a + b - 2 * kUnitLog2;
    for (int i = threadIdx.x; i < modes << pieces_log2; i += kBlockThreads) {
        const int mode = kAverage + (i >> pieces_log2), n = i & ((1 << pieces_log2) - 1);
        const int y = (n >> (b - kUnitLog2)) * kUnit, x = (n << kUnitLog2) & (width - 1);
        const uint8_t* source = memory.source + (y << b) + x;
        int difference[kUnit * kUnit];
        if (mode == kLeastSquares) {
            const uint8_t* prediction = memory.fitted + (y << b) + x;
            for (int k = 0; k < kUnit * kUnit; ++k) {
                const int place = (k / kUnit << b) + k % kUnit;
                difference[k] = source[place] - prediction[place];
            }
        } else {
            Piece piece;
            predict_piece(mode, memory.predict, line_of(memory, mode), a, b, y, x, piece);
            for (int k = 0; k < kUnit * kUnit; ++k)
                difference[k] = source[piece.place(k, width)] - piece.sample[k];
        }
        add_by_key(memory.sums, mode, hadamard_sum(difference), pieces_log2 >= 5);
    }
    __syncthreads();
    if (threadIdx.x < modes) {
        const int mode = kAverage + threadIdx.x, own = memory.sums[mode] >> 1;
        int rank = 0;
        for (int other = kAverage; other < kAverage + modes; ++other) {
            const int sum = memory.sums[other] >> 1;
            rank += sum < own || (sum == own && other < mode);
        }
        memory.ranked[rank] = uint8_t(mode);
    }
    __syncthreads();
    // Templates take long: only where the others leave much, and at most one of them looks better.
    const int best = memory.sums[memory.ranked[0]] >> 1, next = memory.sums[memory.ranked[1]] >> 1;
    const auto end_of = [&](int y) {
        if (y < top) return picture.width;
        if (y < row) return column + width;
        if (y < row + height) return column;
        return y < min(top + side, picture.height) ? start : 0;
    };
    const auto decoded = [&](int y, int x) { return x < end_of(y); };
    if (picture.templates && picture.matching * int64_t{best} >= int64_t{picture.step} << (a + b) &&
        templates_allowed(decoded, row, column, a, b)) {
        const PlanePlaces places{picture.coarse, picture.width};
        const int searcher = threadIdx.x / 32;
        search_places(places, end_of, row, column, a, b, searcher, kBlockWarps,
                      memory.templates[searcher]);
        __syncthreads();
        average_places(places, row, column, a, b, picture.templates, kBlockWarps, memory.templates,
                       memory.matched);
        __syncthreads();
        for (int i = threadIdx.x; i < 1 << pieces_log2; i += kBlockThreads) {
            const int y = (i >> (b - kUnitLog2)) * kUnit, x = (i << kUnitLog2) & (width - 1);
            int difference[kUnit * kUnit];
            for (int k = 0; k < kUnit * kUnit; ++k) {
                const int at = ((y + k / kUnit) << b) + x + k % kUnit;
                difference[k] = memory.source[at] - memory.matched[at];
            }
            atomicAdd(&memory.sums[kTemplates], hadamard_sum(difference));
        }
        __syncthreads();
        const int own = memory.sums[kTemplates] >> 1;
        if (threadIdx.x == 0 && own < next) {
            const int rank = own >= best;
            for (int i = modes; i > rank; --i) memory.ranked[i] = memory.ranked[i - 1];
            memory.ranked[rank] = kTemplates;
        }
        __syncthreads();
    }
    const int64_t place = int64_t{blockIdx.y} * kBlocks + blockIdx.x;
    if (threadIdx.x == 0) {
        uint64_t promising = 0;
        for (int i = 0; i < picture.surveyed; ++i) promising |= uint64_t{1} << memory.ranked[i];
        picture.modes[place] = promising;
    }
    const BlockTables& tables = *picture.tables;
    const int shape = shape_number(a, b);
    const int rows = min(height, kCodedSide), columns_log2 = min(b, kCodedSideLog2);
    const auto residual = [&](int i, int j) {
        const int at = (i << b) + j;
        return memory.source[at] - memory.prediction[at];
    };
    for (int r = 0; r < picture.rough; ++r) {
        if (threadIdx.x == 0) memory.energy = 0;
        predict_block(memory.ranked[r], memory, a, b, memory.prediction);
        __syncthreads();
        int energy = 0;
        for (int i = threadIdx.x; i < block.area(); i += kBlockThreads) {
            const int difference = memory.source[i] - memory.prediction[i];
            energy += difference * difference;
        }
        atomicAdd(&memory.energy, energy);
        for (int i = threadIdx.x; i < rows << b; i += kBlockThreads)
            memory.half[i] =
                column_frequency(tables, residual, a, kCosine, i >> b, i & (width - 1));
        __syncthreads();
        int16_t* out = picture.coefficients +
                       ((int64_t{blockIdx.y} * picture.rough + r) * kShapes + shape) * kMaxBlockArea +
                       ((block.row >> a) * (kMaxSide >> b) + (block.column >> b)) * block.area();
        for (int i = threadIdx.x; i < rows << columns_log2; i += kBlockThreads)
            out[tables.order[shape][i]] =
                coefficient_of(tables, memory.half, b, kCosine, i >> columns_log2,
                               i & ((1 << columns_log2) - 1));
        if (threadIdx.x == 0) picture.energies[place * picture.rough + r] = memory.energy;
        __syncthreads();
    }
}
