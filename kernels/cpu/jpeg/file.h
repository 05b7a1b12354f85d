// A file with pictures of JPEG as levels, details of scans, and all other bytes.
// Source: section "Kept JPEG files" of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <vector>

#include "cpu/jpeg/picture.h"
#include "cpu/jpeg/scan.h"

namespace mmp::jpeg {

struct KeptPicture {
    size_t start = 0;  // place of the marker of its start in the file
    std::unique_ptr<Picture> picture;
    bool whole = false;  // whether all its scans are kept and none is cut, up to its end
};

struct KeptScan {
    size_t start = 0, size = 0;  // place of its data in the file, and bytes
    int picture = 0;
    ScanDetails details;
};

struct SplitFile {
    std::vector<KeptPicture> pictures;  // by their starts
    std::vector<KeptScan> scans;        // by their starts
    std::vector<uint8_t> rest;          // all bytes that are in no scan
    uint64_t level_bytes_left = 0;      // with a stripe of each picture
};

// Splits a file. Scans that cannot be kept exactly are in the rest. The levels of all pictures, and
// a stripe of each, take at most `most_level_bytes`; pictures beyond it are in the rest too.
SplitFile split(const uint8_t* data, size_t size, uint64_t most_level_bytes);

}  // namespace mmp::jpeg
