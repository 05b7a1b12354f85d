// A picture of JPEG: its frame, tables and levels, and the marker segments that they come from.
// Source: section "Kept JPEG files" of docs/format/format.md; ITU-T T.81.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "cpu/jpeg/huffman.h"
#include "cpu/runtime/zeroed.h"

namespace mmp::jpeg {

constexpr int kBlockLevels = 64, kMostComponents = 4, kMostSampling = 4;
constexpr int kMostPasses = 8;

// The place of each level in a block, by rows, in the order of the scans.
inline constexpr uint8_t kZigzag[kBlockLevels] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

enum Marker : uint8_t {
    kBaseline = 0xC0,
    kExtended = 0xC1,
    kProgressive = 0xC2,
    kHuffmanTables = 0xC4,
    kArithmeticConditions = 0xCC,
    kFirstRestart = 0xD0,
    kLastRestart = 0xD7,
    kStart = 0xD8,
    kEnd = 0xD9,
    kScan = 0xDA,
    kQuantisationTables = 0xDB,
    kNumberOfLines = 0xDC,
    kRestartInterval = 0xDD,
};

struct Component {
    int identifier = 0, across = 1, down = 1, table = 0;  // sampling factors; quantisation table
    int columns = 0, rows = 0;          // blocks, with those that complete the MCUs
    int own_columns = 0, own_rows = 0;  // blocks in a scan of this component alone
    uint16_t steps[kBlockLevels];       // quantisation steps by rows, of the first scan
    ZeroedLines<int16_t> levels{0};

    int16_t* block(int row, int column) const {
        return levels.get() + (size_t(row) * columns + column) * kBlockLevels;
    }
};

struct ScanHeader {
    std::vector<int> components;      // numbers in the frame
    uint8_t dc[kMostComponents], ac[kMostComponents];  // Huffman tables of the components
    int first, last;                  // levels of a block, in the order of the scans
    int high, low;                    // successive approximation
};

struct Picture {
    uint8_t frame = 0;  // marker of the frame, 0 before it is known
    int width = 0, height = 0;
    std::vector<Component> components;
    int mcu_columns = 0, mcu_rows = 0;
    int restart_interval = 0;
    HuffmanTable dc[4], ac[4];
    uint16_t steps[4][kBlockLevels];
    ScanHeader scan;
    uint64_t scanned_blocks = 0;

    Picture();
    bool is_progressive() const { return frame == kProgressive; }
    // Bytes that the levels of all components take.
    uint64_t level_bytes() const;
    // Whether the scan whose header was read can be kept, and if so, counts its blocks: all scans
    // together have at most kMostPasses times the blocks of the picture.
    bool counts_scan();
    void allocate();
};

// What ends a run of marker segments.
enum class Stop {
    scan,     // the header of a scan, in Picture::scan; its data follows
    end,      // the marker of the end, or no more data
    unknown,  // something that no scan can be read by
};

// Reads marker segments from `position` on, and moves `position` behind the last one. Bytes between
// segments are passed over.
Stop read_markers(const uint8_t* data, size_t size, size_t& position, Picture& picture);

}  // namespace mmp::jpeg
