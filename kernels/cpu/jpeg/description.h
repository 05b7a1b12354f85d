// The numbers that say how the parts of a kept file fit together.
// Source: section "Kept JPEG files", of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "cpu/jpeg/scan.h"

namespace mmp::jpeg {

// Bytes of levels as which a stripe counts besides its own: its models take time.
constexpr uint64_t kStripeCost = uint64_t{2} << 17;

struct Stripe {
    int rows;      // of MCUs
    size_t bytes;  // of its levels
};

struct DescribedPicture {
    size_t start;  // place of its marker in the file
    std::vector<Stripe> stripes;
};

struct DescribedScan {
    size_t start;  // place of its data in the file, less the bytes of scans before it
    int picture;
    ScanDetails details;
};

// Bytes of the rest that are stored, and those before them that are coded.
struct StoredRange {
    size_t coded, stored;
};

struct Description {
    std::vector<DescribedPicture> pictures;
    std::vector<DescribedScan> scans;
    std::vector<StoredRange> stored;

    void write(std::vector<uint8_t>& bytes) const;
    // Most pictures, scans and stored ranges of a file: a header takes more bytes.
    static size_t most_parts_of(size_t file_size);
    // Stripes of all pictures, each of which has at least one for their bound.
    size_t stripes() const;
    // Returns the number of bytes that were read. `file_size` bounds all numbers, and `most_stripes`
    // those of the stripes.
    size_t read(const uint8_t* bytes, size_t size, size_t file_size, uint64_t most_stripes);
};

void write_number(uint64_t number, std::vector<uint8_t>& bytes);

// Reads numbers of seven bits a byte, the lowest ones first.
class NumberReader {
public:
    NumberReader(const uint8_t* bytes, size_t size) : bytes_(bytes), size_(size) {}

    // Returns a number that is at most `most`; `name` is for the error if it is not.
    uint64_t number(uint64_t most, const char* name);
    uint8_t byte();
    size_t position() const { return position_; }

private:
    const uint8_t* bytes_;
    size_t size_, position_ = 0;
};

}  // namespace mmp::jpeg
