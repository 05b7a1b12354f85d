// Maximum-sum interval of a sequence.
//
// Each thread summarises a stretch of consecutive values as a piece; the pieces of the threads are
// then joined in order (reduction). To make global reads coalesced, a warp stages one cache line of
// each lane's stretch in shared memory at a time. Compile-time parameter: type of the values
// (-DMMP_VALUE).
#include "cuda/solvers/max_sum/piece.cuh"

#ifndef MMP_VALUE
#define MMP_VALUE int
#endif

namespace mmp {

using Value = MMP_VALUE;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kLine = 128;                       // bytes of a stretch that are staged at once
constexpr int kValues = kLine / sizeof(Value);   // values per line
constexpr int kWord = 16;                        // bytes that a thread copies at once
constexpr int kPack = kWord / sizeof(Value);
constexpr int kRow = kLine + kWord;              // padded to avoid bank conflicts

struct alignas(kWord) Pack {
    Value of[kPack];
};

// Copies a line of each lane's stretch, `stretch` values apart, to the warp's rows in shared
// memory.
__device__ inline void stage_lines(const Value* values, int64_t count, int64_t first, int stretch,
                                   uint8_t* rows) {
    constexpr int kLanesOfLine = kLine / kWord, kLines = 32 / kLanesOfLine;
    const int row = threadIdx.x % 32 / kLanesOfLine, word = threadIdx.x % kLanesOfLine;
    const int64_t from = first + int64_t{row} * stretch + word * kPack;
    uint8_t* const to = rows + row * kRow + word * kWord;
    if (first + int64_t{31} * stretch + kValues <= count) {
        // All loads are issued before the first store, so their latencies overlap.
        Pack packs[kLanesOfLine];
#pragma unroll
        for (int i = 0; i < kLanesOfLine; ++i)
            packs[i] = *reinterpret_cast<const Pack*>(values + from + int64_t{i} * kLines * stretch);
#pragma unroll
        for (int i = 0; i < kLanesOfLine; ++i)
            *reinterpret_cast<Pack*>(to + i * kLines * kRow) = packs[i];
        return;
    }
    for (int i = 0; i < kLanesOfLine; ++i) {
        const int64_t at = from + int64_t{i} * kLines * stretch;
        Pack pack{};
        for (int k = 0; k < kPack && at + k < count; ++k) pack.of[k] = values[at + k];
        *reinterpret_cast<Pack*>(to + i * kLines * kRow) = pack;
    }
}

// If all values of a line are small, one 32-bit integer holds both a sum and an index.
constexpr int kPlaceBits = 8;
constexpr int kSmallBits = 17;
static_assert((kValues << kSmallBits << kPlaceBits) <= 1 << 30 || sizeof(Value) < 4);

__device__ inline Value value_at(const Pack* line, int i) { return line[i / kPack].of[i % kPack]; }

__device__ inline bool is_small(const Pack* line) {
    if (sizeof(Value) < 4) return true;
    Value any = 0;
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
        const Value value = value_at(line, i);
        any |= value ^ (value >> (8 * sizeof(Value) - 1));
    }
    return any >> kSmallBits == 0;
}

__device__ inline Piece piece_of_small(const Pack* line, int64_t base) {
    // Keys are 256 * sum plus a start index or minus a stop index, so that among equal sums the
    // first one wins.
    int sum = 0, least = 0x7FFFFFFF, most = -0x7FFFFFFF, best = -0x7FFFFFFF, stop = 0;
#pragma unroll 16
    for (int i = 0; i < kValues; ++i) {
        least = min(least, sum + i);
        sum += static_cast<int>(value_at(line, i)) * (1 << kPlaceBits);
        const int gain = sum - least;
        if (gain > best) stop = i + 1;
        best = max(best, gain);
        most = max(most, sum - (i + 1));
    }
    const auto rounded_up = [](int key) { return (key + (1 << kPlaceBits) - 1) >> kPlaceBits; };
    const int place = (1 << kPlaceBits) - 1;
    return {sum >> kPlaceBits,
            least >> kPlaceBits,
            base + (least & place),
            rounded_up(most),
            base + (-most & place),
            rounded_up(best),
            base + (-best & place),
            base + stop};
}

__device__ inline Piece piece_of(const Pack* line, int count, int64_t base) {
    GrowingPiece piece = start_piece();
    for (int i = 0; i < count; ++i) piece.add(value_at(line, i), i);
    return piece_at(piece, base);
}

// Reduces the pieces of all threads in order; thread 0 returns the result.
__device__ inline Piece join_block(Piece mine, Piece* warps) {
    mine = join_warp(mine);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int warp = 1; warp < kWarps; ++warp) mine = join(mine, warps[warp]);
    return mine;
}

}  // namespace mmp

using namespace mmp;

// Sets pieces[block] to the piece of the block's values. `values` must be aligned to 16 bytes.
// `stretch` is the number of values per thread, a multiple of kValues.
extern "C" __global__ void __launch_bounds__(kThreads, 4)
    pieces_of_blocks(const Value* values, int64_t count, int stretch, Piece* pieces) {
    __shared__ __align__(kWord) uint8_t staged[kWarps][32 * kRow];
    __shared__ Piece warps[kWarps];
    const int lane = threadIdx.x % 32;
    uint8_t* const rows = staged[threadIdx.x / 32];
    const int64_t begin = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * stretch;
    const int64_t of_warp = begin - int64_t{lane} * stretch;
    Piece piece = no_values();
    for (int offset = 0; offset < stretch; offset += kValues) {
        __syncwarp();
        stage_lines(values, count, of_warp + offset, stretch, rows);
        __syncwarp();
        const int64_t left = count - begin - offset;
        const Pack* own = reinterpret_cast<const Pack*>(rows + lane * kRow);
        const int64_t base = begin + offset;
        if (left >= kValues && is_small(own))
            piece = join(piece, piece_of_small(own, base));
        else if (left > 0)
            piece = join(piece, piece_of(own, left < kValues ? left : kValues, base));
    }
    const Piece whole = join_block(piece, warps);
    if (threadIdx.x == 0) pieces[blockIdx.x] = whole;
}

// Sets `answer` to the join of all pieces. Grid: one block.
extern "C" __global__ void __launch_bounds__(kThreads)
    join_pieces(const Piece* pieces, int count, Piece* answer) {
    __shared__ Piece warps[kWarps];
    const int first = static_cast<int>(int64_t{count} * threadIdx.x / kThreads);
    const int last = static_cast<int>(int64_t{count} * (threadIdx.x + 1) / kThreads);
    Piece mine = no_values();
    for (int i = first; i < last; ++i) mine = join(mine, pieces[i]);
    mine = join_block(mine, warps);
    if (threadIdx.x == 0) *answer = mine;
}
