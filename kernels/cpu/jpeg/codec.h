// A file that begins like a JPEG file, kept byte by byte in fewer bytes.
// Source: section "Kept JPEG files" of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace mmp::jpeg {

struct KeptFile {
    std::vector<uint8_t> payload;
    int form = 1;             // in which it is coded
    size_t scan_bytes = 0;    // of the file that are kept as levels
    size_t stored_bytes = 0;  // of the file that are stored as they are
};

// `form` is 1 to 3. A small file is coded in all forms up to this one, of which the smallest is
// kept. The levels of all pictures, and their stripes, count as at most `most_level_bytes`; pictures
// beyond it are kept as bytes.
KeptFile encode_file(const uint8_t* data, size_t size, int form, int threads,
                     uint64_t most_level_bytes);

// Whether a file begins with a picture whose scans all have exactly the data that its levels give, so
// that all decoders of JPEG read the same levels.
bool is_whole(const uint8_t* data, size_t size, uint64_t most_level_bytes);

// Returns the file, which has `file_size` bytes.
std::vector<uint8_t> decode_file(const uint8_t* payload, size_t size, size_t file_size, int form,
                                 int threads, uint64_t most_level_bytes);

// Returns the beginning of the file, up to the data of the first scan of its first picture. It has
// what the file says of this picture, and takes little time.
std::vector<uint8_t> decode_front(const uint8_t* payload, size_t size, size_t file_size, int form,
                                  uint64_t most_level_bytes);

}  // namespace mmp::jpeg
