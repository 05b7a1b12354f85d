// Maximum-sum rectangles and boxes: each range of planes and rows is a strip; Kadane's algorithm
// finds the best interval of columns of each strip.
//
// A matrix has one plane. `sums` holds prefix sums over planes and rows: for each plane, a matrix
// of padded columns x pitch. The sum of the first r rows of column c is at c * pitch + r, so rows
// are contiguous, with room for the sum of all rows. A block of 256 threads computes 64 tops x 64
// bottoms of one range of planes, a thread 4 x 4. Bottoms begin at 1, because a strip has at least
// one row. Compile-time parameters: type of sums, int or long long (-DMMP_SUM), and type of the
// values (-DMMP_VALUE).
#include "cuda/solvers/max_sum/piece.cuh"

#ifndef MMP_SUM
#define MMP_SUM int
#endif
#ifndef MMP_VALUE
#define MMP_VALUE int
#endif

namespace mmp {

using Sum = MMP_SUM;
using Value = MMP_VALUE;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kTile = 64;
constexpr int kEach = 4;       // tops per thread, and bottoms per thread
constexpr int kColumns = 32;  // columns that are staged at once
constexpr int kQuads = 2 * kTile / kEach;
constexpr int kRowsOfWarp = kTile / kWarps;

struct Shape {
    int planes, rows, columns, padded_columns, pitch, min_rows, max_rows;
};

// Front, top, left, back, bottom and right.
struct Places {
    int of[6];
};

struct Found {
    int64_t magnitudes;  // sum of the magnitudes of all values
    int64_t best;        // largest sum
    int64_t count;       // number of places written
};

// Prefix sums of four adjacent rows.
struct alignas(4 * sizeof(Sum)) Four {
    Sum of[kEach];
};

// Reads the prefix sums of four rows. For tops, the first row is a multiple of four; for bottoms,
// it is one more, so the load is not aligned.
__device__ inline Four four_at(const Sum* sums, bool is_top) {
    if (is_top) return *reinterpret_cast<const Four*>(sums);
    return {sums[0], sums[1], sums[2], sums[3]};
}

// Stage in shared memory: prefix sums at the block's tops and bottoms, for kColumns columns.
struct Stage {
    Four of[kColumns][kQuads];
};

// Range of planes, and first top and bottom, that a block searches.
struct Task {
    int front, back, first_top, first_bottom;
};

// Returns pair number t of the pairs first <= last below `size`, ordered by first, then last.
__device__ inline void pair_at(int64_t t, int size, int& first, int& last) {
    // Counted from the end, the values of `first` have 1, 2, ... pairs (triangular numbers).
    const int64_t back = int64_t{size} * (size + 1) / 2 - 1 - t;
    int row = static_cast<int>((sqrt(8.0 * static_cast<double>(back) + 1) - 1) / 2);
    while (int64_t{row} * (row + 1) / 2 > back) --row;
    while (int64_t{row + 1} * (row + 2) / 2 <= back) ++row;
    first = size - 1 - row;
    last = size - 1 - static_cast<int>(back - int64_t{row} * (row + 1) / 2);
}

// Returns the task of a block. Blocks are ordered by range of planes, then by pair of tiles.
__device__ inline Task task_of(int64_t block, const Shape& shape) {
    const int tiles = (shape.rows + kTile - 1) / kTile, pairs = tiles * (tiles + 1) / 2;
    int front, last_plane, top, bottom;
    pair_at(block / pairs, shape.planes, front, last_plane);
    pair_at(block % pairs, tiles, top, bottom);
    return {front, last_plane + 1, top * kTile, bottom * kTile + 1};
}

__device__ inline int64_t plane_size(const Shape& shape) {
    return int64_t{shape.padded_columns} * shape.pitch;
}

__device__ inline const Sum* sums_before(const Sum* sums, const Shape& shape, int plane) {
    return plane ? sums + (plane - 1) * plane_size(shape) : nullptr;
}

__device__ inline Sum larger_sum(Sum a, Sum b) { return a > b ? a : b; }

// Returns max(sum, 0) + value, as one instruction if the architecture has it.
__device__ inline Sum extend(Sum sum, Sum value) {
#if __CUDA_ARCH__ >= 900
    if constexpr (sizeof(Sum) == 4) return __viaddmax_s32(sum, value, value);
#endif
    return larger_sum(sum, 0) + value;
}

constexpr Sum kLowest = sizeof(Sum) == 4 ? Sum(0x80000000u) : Sum(kLowestSum);

__device__ inline int own_top(const Task& task) {
    return task.first_top + static_cast<int>(threadIdx.x) / 16 * kEach;
}

__device__ inline int own_bottom(const Task& task) {
    return task.first_bottom + static_cast<int>(threadIdx.x) % 16 * kEach;
}

__device__ inline bool strip_allowed(const Shape& shape, int top, int bottom) {
    const int height = bottom - top;
    return bottom <= shape.rows && height >= shape.min_rows && height <= shape.max_rows;
}

// Sets most[i][j] to the largest sum in the strip from the thread's top i to its bottom j.
__device__ inline void search_strips(const Sum* sums, const Shape& shape, const Task& task,
                                     Stage& stage, Sum (&most)[kEach][kEach]) {
    const int quad = threadIdx.x % kQuads, first_column = threadIdx.x / kQuads;
    const bool is_top = quad < kQuads / 2;
    const int row = is_top ? task.first_top + quad * kEach
                           : task.first_bottom + (quad - kQuads / 2) * kEach;
    const int64_t place = int64_t{first_column} * shape.pitch + row;
    const Sum* near = sums_before(sums, shape, task.front);
    const Sum* far = sums_before(sums, shape, task.back);
    Sum sum[kEach][kEach];
    for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) {
            sum[i][j] = 0;
            most[i][j] = kLowest;
        }
    for (int first = 0; first < shape.columns; first += kColumns) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kColumns; i += kThreads / kQuads) {
            const int64_t at = place + int64_t{first + i} * shape.pitch;
            Four four = four_at(far + at, is_top);
            if (near) {
                const Four less = four_at(near + at, is_top);
                for (int k = 0; k < kEach; ++k) four.of[k] -= less.of[k];
            }
            stage.of[first_column + i][quad] = four;
        }
        __syncthreads();
        const int count = min(kColumns, shape.columns - first);
#pragma unroll 4
        for (int column = 0; column < count; ++column) {
            const Four tops = stage.of[column][threadIdx.x / 16];
            const Four bottoms = stage.of[column][kQuads / 2 + threadIdx.x % 16];
#pragma unroll
            for (int i = 0; i < kEach; ++i)
#pragma unroll
                for (int j = 0; j < kEach; ++j) {
                    sum[i][j] = extend(sum[i][j], bottoms.of[j] - tops.of[i]);
                    most[i][j] = larger_sum(most[i][j], sum[i][j]);
                }
        }
    }
}

// Finds the first of the best intervals of a strip; lane 0 of the warp returns it.
__device__ inline Places place_in_strip(const Sum* sums, const Shape& shape, const Task& task, int top,
                                        int bottom) {
    const Sum* near = sums_before(sums, shape, task.front);
    const Sum* far = sums_before(sums, shape, task.back);
    const int each = (shape.columns + 31) / 32, begin = threadIdx.x % 32 * each;
    GrowingPiece piece = start_piece();
#pragma unroll 4
    for (int i = 0; i < min(each, shape.columns - begin); ++i) {
        const int64_t at = int64_t{begin + i} * shape.pitch;
        Sum value = far[at + bottom] - far[at + top];
        if (near) value -= near[at + bottom] - near[at + top];
        piece.add(value, i);
    }
    const Piece strip = join_warp(piece_at(piece, begin));
    return {task.front, top,    static_cast<int>(strip.start),
            task.back,  bottom, static_cast<int>(strip.stop)};
}

__device__ inline bool comes_first(const Places& a, const Places& b, const Places& order) {
    for (int i = 0; i < 6; ++i) {
        const int place = order.of[i];
        if (a.of[place] != b.of[place]) return a.of[place] < b.of[place];
    }
    return false;
}

}  // namespace mmp

using namespace mmp;

// Sums the rows of each tile (planes x tiles x columns) and adds all magnitudes to
// found->magnitudes. Grid: (groups of 32 columns, tiles, planes).
extern "C" __global__ void __launch_bounds__(kThreads)
    sum_tiles(const Value* values, Shape shape, int64_t* tile_sums, Found* found) {
    __shared__ int64_t partial[kWarps][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int column = blockIdx.x * 32 + lane;
    int64_t sum = 0, magnitudes = 0;
#pragma unroll
    for (int i = 0; i < kRowsOfWarp; ++i) {
        const int row = blockIdx.y * kTile + i * kWarps + warp;
        if (column >= shape.columns || row >= shape.rows) continue;
        const int64_t value = values[(int64_t{blockIdx.z} * shape.rows + row) * shape.columns + column];
        sum += value;
        magnitudes += value < 0 ? -value : value;
    }
    partial[warp][lane] = sum;
    for (int step = 16; step > 0; step /= 2)
        magnitudes += __shfl_xor_sync(kAllLanes, magnitudes, step);
    if (lane == 0)
        atomicAdd(reinterpret_cast<unsigned long long*>(&found->magnitudes),
                  static_cast<unsigned long long>(magnitudes));
    __syncthreads();
    if (warp > 0 || column >= shape.columns) return;
    for (int other = 1; other < kWarps; ++other) sum += partial[other][lane];
    tile_sums[(int64_t{blockIdx.z} * gridDim.y + blockIdx.y) * shape.columns + column] = sum;
}

// Computes the prefix sums over the rows of each plane separately. Grid: as for sum_tiles.
extern "C" __global__ void __launch_bounds__(kThreads)
    sum_rows(const Value* values, Shape shape, const int64_t* tile_sums, Sum* sums) {
    __shared__ Sum turned[32][kTile + 1];
    __shared__ Sum above[kWarps][32], inside[kWarps][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int column = blockIdx.x * 32 + lane, tile = blockIdx.y, plane = blockIdx.z;
    const bool exists = column < shape.columns;
    Sum sum = 0;
    for (int other = warp; exists && other < tile; other += kWarps)
        sum += static_cast<Sum>(
            tile_sums[(int64_t{plane} * gridDim.y + other) * shape.columns + column]);
    above[warp][lane] = sum;
    Sum own[kRowsOfWarp];
    sum = 0;
#pragma unroll
    for (int i = 0; i < kRowsOfWarp; ++i) {
        const int row = tile * kTile + warp * kRowsOfWarp + i;
        own[i] = exists && row < shape.rows
                     ? static_cast<Sum>(
                           values[(int64_t{plane} * shape.rows + row) * shape.columns + column])
                     : 0;
        sum += own[i];
    }
    inside[warp][lane] = sum;
    __syncthreads();
    sum = 0;
    for (int other = 0; other < kWarps; ++other) {
        sum += above[other][lane];
        if (other < warp) sum += inside[other][lane];
    }
#pragma unroll
    for (int i = 0; i < kRowsOfWarp; ++i) {
        turned[lane][warp * kRowsOfWarp + i] = sum;
        sum += own[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 32 * kTile; i += kThreads) {
        const int64_t to = int64_t{blockIdx.x} * 32 + i / kTile;
        sums[plane * plane_size(shape) + to * shape.pitch + tile * kTile + i % kTile] =
            turned[i / kTile][i % kTile];
    }
}

// Prefix sum over planes. Grid: one thread per element of a plane.
extern "C" __global__ void __launch_bounds__(kThreads) sum_planes(Shape shape, Sum* sums) {
    const int64_t size = plane_size(shape);
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= size) return;
    Sum sum = 0;
#pragma unroll 4
    for (int plane = 0; plane < shape.planes; ++plane) {
        sum += sums[plane * size + i];
        sums[plane * size + i] = sum;
    }
}

// Sets best[block] to the largest sum of a block's strips, and found->best to the largest of all
// blocks. `strips`, unless null, receives the largest sum of each range of rows first to last, in
// the order (0, 0), (0, 1), ..., (1, 1), ...
extern "C" __global__ void __launch_bounds__(kThreads)
    best_of_tiles(const Sum* sums, Shape shape, Sum* best, Found* found, int64_t* strips) {
    __shared__ Stage stage;
    __shared__ Sum warps[kWarps];
    const Task task = task_of(blockIdx.x, shape);
    Sum most[kEach][kEach];
    search_strips(sums, shape, task, stage, most);
    Sum mine = kLowest;
    for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) {
            const int64_t top = own_top(task) + i, bottom = own_bottom(task) + j;
            if (!strip_allowed(shape, top, bottom)) continue;
            mine = larger_sum(mine, most[i][j]);
            if (strips)
                strips[top * shape.rows - top * (top - 1) / 2 + bottom - 1 - top] = most[i][j];
        }
    for (int step = 16; step > 0; step /= 2)
        mine = larger_sum(mine, __shfl_xor_sync(kAllLanes, mine, step));
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int warp = 1; warp < kWarps; ++warp) mine = larger_sum(mine, warps[warp]);
    best[blockIdx.x] = mine;
    atomicMax(reinterpret_cast<long long*>(&found->best), static_cast<long long>(mine));
}

// Finds the places with the sum found->best. Each block that reaches this sum writes the strip and
// interval that come first by `order`, a permutation of the six indices of Places. found->count
// counts the places written.
extern "C" __global__ void __launch_bounds__(kThreads)
    place_in_tiles(const Sum* sums, Shape shape, const Sum* best, Found* found, Places order,
                   Places* places) {
    __shared__ Stage stage;
    __shared__ uint16_t strips[kTile * kTile];
    __shared__ int count;
    __shared__ Places first_of[kWarps];
    if (best[blockIdx.x] != found->best) return;
    const Task task = task_of(blockIdx.x, shape);
    Sum most[kEach][kEach];
    if (threadIdx.x == 0) count = 0;
    search_strips(sums, shape, task, stage, most);
    for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) {
            const int top = own_top(task) + i, bottom = own_bottom(task) + j;
            if (!strip_allowed(shape, top, bottom) || most[i][j] != found->best) continue;
            strips[atomicAdd(&count, 1)] = static_cast<uint16_t>((top - task.first_top) * kTile +
                                                                 bottom - task.first_bottom);
        }
    __syncthreads();
    const int warp = threadIdx.x / 32;
    Places mine{{-1}};
    for (int i = warp; i < count; i += kWarps) {
        const int top = task.first_top + strips[i] / kTile;
        const int bottom = task.first_bottom + strips[i] % kTile;
        const Places other = place_in_strip(sums, shape, task, top, bottom);
        if (mine.of[0] < 0 || comes_first(other, mine, order)) mine = other;
    }
    if (threadIdx.x % 32 == 0) first_of[warp] = mine;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int other = 1; other < kWarps; ++other)
        if (first_of[other].of[0] >= 0 && comes_first(first_of[other], mine, order))
            mine = first_of[other];
    places[atomicAdd(reinterpret_cast<unsigned long long*>(&found->count), 1ull)] = mine;
}
