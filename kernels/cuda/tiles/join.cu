// Joins the decoded planes of tiles to pictures, and computes the checksums of their samples.
// Source: sections "Colours" and "Layers" of docs/format/format.md.
#include "cuda/tiles/state.cuh"

using namespace mmp;

namespace {

constexpr int kJoinThreads = 128;
constexpr int kMatrixBits = 18;
constexpr int kApart = 1, kLuma = 2, kFineLuma = 3;  // numbers of layouts

__device__ int plane_at(const JoinedTile& tile, int plane, int64_t at, bool wide) {
    return wide ? static_cast<const uint16_t*>(tile.planes[plane])[at]
                : static_cast<const uint8_t*>(tile.planes[plane])[at];
}

template <class Value>
__device__ int clamped(Value value, int most) {
    return value < 0 ? 0 : value > most ? most : int(value);
}

// The coded levels of a pixel.
__device__ void levels_of(const JoinedTile& tile, int row, int column, int (&levels)[kMostSamples]) {
    const int64_t at = int64_t{row} * tile.stride + column;
    const int coded = larger(tile.level_depth, 8), most = (1 << coded) - 1;
    const bool wide = coded > 8;
    const int planes = tile.colours + tile.has_alpha;
    if (tile.layout == kLuma) {
        const int mid = 1 << (coded - 1);
        const int luma = plane_at(tile, 0, at, wide), co = plane_at(tile, 1, at, wide) - mid;
        const int cg = plane_at(tile, 2, at, wide) - mid, mean = luma - cg;
        levels[0] = clamped(mean + co, most);
        levels[1] = clamped(luma + cg, most);
        levels[2] = clamped(mean - co, most);
    } else if (tile.layout == kFineLuma) {
        const int shift = kMatrixBits + tile.plane_depth - coded;
        const int64_t mid = int64_t{1} << (tile.plane_depth - 1);
        for (int colour = 0; colour < 3; ++colour) {
            int64_t sum = int64_t{1} << (shift - 1), whole = int64_t{1} << kMatrixBits;
            for (int plane = 0; plane < 3; ++plane) {
                const int64_t factor = tile.matrix[colour][plane];
                sum += factor * plane_at(tile, plane, at, true);
                whole -= factor;
            }
            levels[colour] = clamped((sum + mid * whole) >> shift, most);
        }
    } else {
        for (int plane = 0; plane < tile.colours; ++plane)
            levels[plane] = plane_at(tile, plane, at, wide);
    }
    if (tile.has_alpha) levels[tile.colours] = plane_at(tile, tile.colours, at, wide);
    if (tile.level_depth >= 8) return;
    const int white = (1 << tile.level_depth) - 1;
    for (int plane = 0; plane < planes; ++plane)
        levels[plane] = (levels[plane] * white + 127) / 255;
}

// CRC-32 of one more byte, as zlib computes it.
__device__ uint32_t add_byte(uint32_t crc, uint32_t byte) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1)));
    return crc;
}

// Product of a CRC and a polynomial modulo that of CRC-32.
__device__ uint32_t times(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (uint32_t m = 1u << 31; m; m >>= 1) {
        if (a & m) product ^= b;
        b = b >> 1 ^ (0xEDB88320u & (0u - (b & 1)));
    }
    return product;
}

// x^(8 bytes) modulo the polynomial of CRC-32.
__device__ uint32_t power_of(uint64_t bytes) {
    uint32_t result = 1u << 31, square = 1u << 23;  // 1 and x^8
    for (; bytes; bytes >>= 1) {
        if (bytes & 1) result = times(square, result);
        square = times(square, square);
    }
    return result;
}

}  // namespace

// Writes the shown pixels. Grid: (groups of kJoinThreads columns, rows, tiles).
extern "C" __global__ void __launch_bounds__(kJoinThreads) join_tiles(const JoinedTile* tiles) {
    const JoinedTile& tile = tiles[blockIdx.z];
    const int i = int(blockIdx.y), j = int(blockIdx.x * kJoinThreads + threadIdx.x);
    if (i >= tile.rows || j >= tile.columns) return;
    int levels[kMostSamples];
    levels_of(tile, tile.row + i, tile.column + j, levels);
    const int64_t at = i * tile.row_stride + j * tile.pixel_stride;
    for (int plane = 0; plane < tile.colours + tile.has_alpha; ++plane) {
        if (tile.depth > 8)
            static_cast<uint16_t*>(tile.out)[at + plane] = uint16_t(levels[plane] + tile.first);
        else
            static_cast<uint8_t*>(tile.out)[at + plane] = uint8_t(levels[plane] + tile.first);
    }
}

// Computes the CRC-32 of each row. Each warp takes a row, and each of its threads a piece of it.
// Grid: (groups of kJoinThreads / 32 rows, tiles).
extern "C" __global__ void __launch_bounds__(kJoinThreads) check_rows(const JoinedTile* tiles) {
    const JoinedTile& tile = tiles[blockIdx.y];
    const int row = int(blockIdx.x * (kJoinThreads / 32) + threadIdx.x / 32), lane = threadIdx.x % 32;
    if (row >= tile.height) return;
    const int planes = tile.colours + tile.has_alpha, bytes = tile.level_depth > 8 ? 2 : 1;
    // The last thread has the rest, so that the pieces before a piece have equal lengths.
    const int each = (tile.width + 31) / 32, first = smaller(lane * each, tile.width);
    const int last = smaller(first + each, tile.width);
    uint32_t crc = lane ? 0 : ~0u;
    for (int column = first; column < last; ++column) {
        int levels[kMostSamples];
        levels_of(tile, row, column, levels);
        for (int plane = 0; plane < planes; ++plane) {
            if (bytes == 2) crc = add_byte(crc, uint32_t(levels[plane]) >> 8);
            crc = add_byte(crc, uint32_t(levels[plane]) & 255);
        }
    }
    // Moves each piece before those that follow it.
    const uint64_t after = uint64_t(tile.width - last) * planes * bytes;
    uint32_t moved = times(power_of(after), crc);
    for (int apart = 16; apart; apart /= 2) moved ^= __shfl_xor_sync(~0u, moved, apart);
    // The start of the next row is ~0, too: a checksum of a whole row alone.
    if (lane == 0) tile.crc_rows[row] = ~moved;
}

// Joins the checksums of the rows of a tile. Grid: tiles; one warp each.
extern "C" __global__ void __launch_bounds__(32) check_tiles(const JoinedTile* tiles) {
    const JoinedTile& tile = tiles[blockIdx.x];
    const int lane = threadIdx.x;
    const uint64_t row_bytes = uint64_t(tile.width) * (tile.colours + tile.has_alpha) *
                               (tile.level_depth > 8 ? 2 : 1);
    const int each = (tile.height + 31) / 32, first = smaller(lane * each, tile.height);
    const int last = smaller(first + each, tile.height);
    const uint32_t of_row = power_of(row_bytes);
    uint32_t crc = 0;
    for (int row = first; row < last; ++row) crc = times(of_row, crc) ^ tile.crc_rows[row];
    uint32_t moved = times(power_of(row_bytes * uint64_t(tile.height - last)), crc);
    for (int apart = 16; apart; apart /= 2) moved ^= __shfl_xor_sync(~0u, moved, apart);
    if (lane == 0) *tile.crc = moved;
}
