// The survey: promising modes of all blocks of some fragments, predicted from the coarse source. It
// depends on no decoded sample, so all blocks are surveyed at once.
#include "cuda/blocks/least_squares.cuh"
#include "cuda/blocks/prediction.cuh"
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

// Access of the template search to the coarse plane. Memory before and after the plane may be read.
struct PlanePlaces {
    const uint8_t* samples;
    int stride;

    __device__ const uint8_t* pointer(int row, int column) const {
        return samples + int64_t{row} * stride + column;
    }
};

// The reference line of a mode; modes other than angles do not read it.
__device__ const Line& line_of(const SurveyMemory& memory, int mode) {
    return memory.lines[max(0, angle_of(mode))];
}

// A block that is surveyed, in the picture.
struct Surveyed {
    int row, column, a, b;
    int top, left, side;  // of its fragment

    __device__ int height() const { return 1 << a; }
    __device__ int width() const { return 1 << b; }
    __device__ int area() const { return 1 << (a + b); }
    __device__ int pieces_log2() const { return a + b - 2 * kUnitLog2; }
};

// The whole prediction of a block by a mode from kLeastSquares on.
__device__ const uint8_t* whole_prediction(const SurveyMemory& memory, int mode) {
    return mode == kLeastSquares ? memory.fitted : memory.matched;
}

// Writes the prediction of a block by a mode to memory.prediction, row by row.
__device__ void predict_block(int mode, SurveyMemory& memory, const Surveyed& block) {
    const int a = block.a, b = block.b, pieces_across = 1 << (b - kUnitLog2);
    for (int i = threadIdx.x; i < 1 << block.pieces_log2(); i += kBlockThreads)
        write_piece(mode, memory.predict, line_of(memory, mode), whole_prediction(memory, mode), a,
                    b, i / pieces_across * kUnit, i % pieces_across * kUnit, memory.prediction);
}

// Loads the source of a block and prepares its predictions: references, the lines of the angles and
// the prediction by least squares. References are the samples of the coarse source that would be
// decoded before the block.
__device__ void prepare_modes(const BlockPicture& picture, SurveyMemory& memory,
                              const Surveyed& block, bool fitted) {
    const int row = block.row, column = block.column, a = block.a, b = block.b;
    for (int i = threadIdx.x; i < block.area(); i += kBlockThreads)
        memory.source[i] = picture.source[int64_t{row + (i >> b)} * picture.width + column +
                                          (i & (block.width() - 1))];
    if (threadIdx.x < kModes) memory.sums[threadIdx.x] = 0;
    const PlaneView view{picture.coarse, picture.width, picture.height};
    const int length = block.height() + block.width();
    const int right = row == block.top ? picture.width : column + block.width();
    const int bottom =
        min(column == block.left ? block.top + block.side : row + block.height(), picture.height);
    if (threadIdx.x < 32)
        gather_references(view, row, column, a, b, row ? min(right - column, length) : 0,
                          column ? min(bottom - row, length) : 0, memory.predict);
    if (fitted && threadIdx.x / 32 == 1)
        predict_least_squares(view, row, column, a, b, picture.width, memory.fit, memory.fitted);
    __syncthreads();
    for (int angle = threadIdx.x / 32; angle < kAngles; angle += kBlockWarps)
        for (int k = line_start(angle, a, b) + threadIdx.x % 32; k < line_end(a, b); k += 32)
            memory.lines[angle].samples[k] = line_sample(memory.predict, angle, a, b, k);
    __syncthreads();
}

// Ranks the first `modes` modes from kAverage on by their absolute Hadamard differences.
__device__ void rank_modes(SurveyMemory& memory, const Surveyed& block, int modes) {
    const int a = block.a, b = block.b, pieces_log2 = block.pieces_log2();
    const auto source = [&](int i, int j) { return int(memory.source[(i << b) + j]); };
    for (int i = threadIdx.x; i < modes << pieces_log2; i += kBlockThreads) {
        const int mode = kAverage + (i >> pieces_log2), n = i & ((1 << pieces_log2) - 1);
        const int y = (n >> (b - kUnitLog2)) * kUnit, x = (n << kUnitLog2) & (block.width() - 1);
        const int sum = piece_difference(mode, memory.predict, line_of(memory, mode), memory.fitted,
                                         a, b, y, x, source);
        add_by_key(memory.sums, mode, sum, pieces_log2 >= 5);
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
}

// Adds the templates to the ranked modes. Template matching is slow: it runs only where the other
// modes leave a large difference, and counts only where at most one other mode is better.
__device__ void rank_templates(const BlockPicture& picture, SurveyMemory& memory,
                               const Surveyed& block, int modes) {
    const int row = block.row, column = block.column, a = block.a, b = block.b;
    const int top = block.top, pieces_log2 = block.pieces_log2();
    const int best = memory.sums[memory.ranked[0]] >> 1, next = memory.sums[memory.ranked[1]] >> 1;
    const auto end_of = [&](int y) {
        if (y < top) return picture.width;
        if (y < row) return column + block.width();
        if (y < row + block.height()) return column;
        return y < min(top + block.side, picture.height) ? block.left : 0;
    };
    const auto decoded = [&](int y, int x) { return x < end_of(y); };
    if (!picture.templates ||
        picture.matching * int64_t{best} < int64_t{picture.step} << (a + b) ||
        !templates_allowed(decoded, row, column, a, b))
        return;
    const PlanePlaces places{picture.coarse, picture.width};
    const int searcher = threadIdx.x / 32;
    search_places(places, end_of, row, column, a, b, searcher, kBlockWarps,
                  memory.templates[searcher]);
    __syncthreads();
    average_places(places, row, column, a, b, picture.templates, kBlockWarps, memory.templates,
                   memory.matched);
    __syncthreads();
    for (int i = threadIdx.x; i < 1 << pieces_log2; i += kBlockThreads) {
        const int y = (i >> (b - kUnitLog2)) * kUnit, x = (i << kUnitLog2) & (block.width() - 1);
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

// Writes the energy and the coefficients, in scan order, of the residuals of the best modes.
// `number` is the block's number in its fragment, `slot` the fragment's among those of the launch.
__device__ void transform_best(const BlockPicture& picture, const SearchRoom& room,
                               SurveyMemory& memory, const Surveyed& block, int number,
                               int slot) {
    const BlockTables& tables = *picture.tables;
    const int a = block.a, b = block.b, width = block.width(), shape = shape_number(a, b);
    const int rows = min(block.height(), kCodedSide), columns_log2 = min(b, kCodedSideLog2);
    const int index = ((block.row - block.top) >> a) * (kMaxSide >> b) +
                      ((block.column - block.left) >> b);
    const auto residual = [&](int i, int j) {
        const int at = (i << b) + j;
        return memory.source[at] - memory.prediction[at];
    };
    for (int r = 0; r < picture.rough; ++r) {
        if (threadIdx.x == 0) memory.energy = 0;
        predict_block(memory.ranked[r], memory, block);
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
        int16_t* out = room.coefficients +
                       ((int64_t{slot} * picture.rough + r) * kShapes + shape) * kMaxBlockArea +
                       index * block.area();
        for (int i = threadIdx.x; i < rows << columns_log2; i += kBlockThreads)
            out[tables.order[shape][i]] =
                coefficient_of(tables, memory.half, b, kCosine, i >> columns_log2,
                               i & ((1 << columns_log2) - 1));
        if (threadIdx.x == 0)
            room.energies[(int64_t{slot} * kBlocks + number) * picture.rough + r] =
                memory.energy;
        __syncthreads();
    }
}

}  // namespace

// Surveys the fragments of the tickets from `first` on. Grid: (kBlocks, tickets); five CUDA blocks
// fit on a multiprocessor.
extern "C" __global__ void __launch_bounds__(kBlockThreads, 5)
    survey_blocks(const BlockPicture* pictures, const SearchRoom* rooms, int first) {
    __shared__ SurveyMemory memory;
    const SearchRoom& room = *rooms;
    const Ticket ticket = room.tickets[first + blockIdx.y];
    const BlockPicture& picture = pictures[ticket.picture];
    const int side = 1 << picture.fragment_log2;
    const int top = ticket.row * side, left = ticket.column * side;
    const BlockPlace place = block_of(blockIdx.x);
    const Surveyed block{top + place.row, left + place.column, place.a, place.b, top, left, side};
    if (place.row + block.height() > side || place.column + block.width() > side) return;
    if (block.row + block.height() > picture.height) return;
    if (block.column + block.width() > picture.width) return;
    const bool fitted =
        picture.least_squares && block.row >= kFittedFrom && block.column >= kFittedFrom;
    const int modes = kLeastSquares - kAverage + fitted;
    prepare_modes(picture, memory, block, fitted);
    rank_modes(memory, block, modes);
    rank_templates(picture, memory, block, modes);
    if (threadIdx.x == 0) {
        uint64_t promising = 0;
        for (int i = 0; i < picture.surveyed; ++i) promising |= uint64_t{1} << memory.ranked[i];
        room.modes[int64_t{blockIdx.y} * kBlocks + blockIdx.x] = promising;
    }
    transform_best(picture, room, memory, block, blockIdx.x, blockIdx.y);
}
