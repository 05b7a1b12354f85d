// The data of a scan of JPEG: bytes from levels, and levels from bytes.
// Source: section "Kept JPEG files" of docs/format/format.md; ITU-T T.81, Annexes F and G.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <utility>
#include <vector>

#include "cpu/jpeg/picture.h"

namespace mmp::jpeg {

constexpr uint32_t kMostRun = 32767;
// Refinement bits after which libjpeg ends a run of blocks.
constexpr uint32_t kUsualRefinements = 937;

enum class Padding : uint8_t { ones, zeros, listed };

// What levels and headers do not say about the bytes of a scan.
struct ScanDetails {
    // Bytes of the data, or 0 if it ends with the last block.
    size_t cut = 0;
    // How the bits that complete bytes are set, and all of them if they are listed.
    Padding padding = Padding::ones;
    std::vector<bool> padding_bits;
    // Zeros that are coded before the end of a block: the block, counted in the scan, and how often
    // 16 zeros are.
    std::vector<std::pair<uint32_t, uint32_t>> zeros;
    // Progressive scans: the largest number of blocks that end together, of refinement bits (0:
    // any), and blocks at which a new run begins although the one before could go on.
    uint32_t most_run = kMostRun, most_refinements = kUsualRefinements;
    std::vector<uint32_t> run_starts;
};

// Reads levels from the data of the scan whose header `picture` has. Returns the number of bytes of
// the data. If it is not all blocks, or `most` bytes are over before, details.cut says so.
size_t read_scan_data(const uint8_t* data, size_t size, size_t most, Picture& picture,
                      ScanDetails& details);

// Bytes by which `bytes` grows ahead of what is written.
constexpr size_t kWrittenAhead = 1 << 16;

// Appends the data of the scan whose header `picture` has. It stops soon after there are more than
// `most` bytes.
void write_scan_data(const Picture& picture, const ScanDetails& details,
                     std::vector<uint8_t>& bytes, size_t most = SIZE_MAX);

}  // namespace mmp::jpeg
