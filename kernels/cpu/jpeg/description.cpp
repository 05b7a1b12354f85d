#include "cpu/jpeg/description.h"

#include <algorithm>
#include <string>

#include "cpu/runtime/errors.h"

namespace mmp::jpeg {

namespace {

constexpr char kSection[] = "Kept JPEG files";
constexpr int kNumberBits = 62;
constexpr size_t kLeastScanNumbers = 3;

// The parts of the details of a scan that are there, by bits above the padding.
enum Parts { kCut = 4, kZeros = 8, kRuns = 16 };

void write_details(const ScanDetails& details, std::vector<uint8_t>& bytes) {
    const bool runs = details.most_run != kMostRun ||
                      details.most_refinements != kUsualRefinements ||
                      !details.run_starts.empty();
    write_number(int(details.padding) | (details.cut ? kCut : 0) |
                     (details.zeros.empty() ? 0 : kZeros) | (runs ? kRuns : 0),
                 bytes);
    if (details.cut) write_number(details.cut, bytes);
    if (details.padding == Padding::listed) {
        write_number(details.padding_bits.size(), bytes);
        for (size_t i = 0; i < details.padding_bits.size(); i += 8) {
            int byte = 0;
            for (size_t j = i; j < i + 8; ++j)
                byte = 2 * byte + (j < details.padding_bits.size() && details.padding_bits[j]);
            bytes.push_back(uint8_t(byte));
        }
    }
    uint32_t before = 0;
    if (!details.zeros.empty()) {
        write_number(details.zeros.size(), bytes);
        for (const auto& [block, count] : details.zeros) {
            write_number(block - before, bytes);
            write_number(count, bytes);
            before = block;
        }
    }
    if (!runs) return;
    write_number(details.most_run, bytes);
    write_number(details.most_refinements, bytes);
    write_number(details.run_starts.size(), bytes);
    before = 0;
    for (const uint32_t block : details.run_starts) {
        write_number(block - before, bytes);
        before = block;
    }
}

ScanDetails read_details(NumberReader& reader, size_t file_size) {
    ScanDetails details;
    const int parts = int(reader.number(kRuns * 2 - 1, "parts of a scan"));
    if ((parts & 3) > int(Padding::listed)) throw CorruptPayload("padding is 3", kSection);
    details.padding = Padding(parts & 3);
    if (parts & kCut) details.cut = reader.number(file_size, "bytes of a scan");
    if (details.padding == Padding::listed) {
        const size_t count = reader.number(8 * file_size, "padding bits");
        for (size_t i = 0; i < count; i += 8) {
            const int byte = reader.byte();
            for (size_t j = 0; j < 8 && i + j < count; ++j)
                details.padding_bits.push_back(byte >> (7 - j) & 1);
        }
    }
    uint64_t before = 0;
    if (parts & kZeros) {
        for (size_t left = reader.number(file_size, "blocks with zeros"); left; --left) {
            before += reader.number(UINT32_MAX - before, "block with zeros");
            const uint64_t count = reader.number(4, "zeros of a block");
            details.zeros.push_back({uint32_t(before), uint32_t(count)});
        }
    }
    if (!(parts & kRuns)) return details;
    details.most_run = uint32_t(reader.number(kMostRun, "longest run"));
    details.most_refinements = uint32_t(reader.number(UINT32_MAX, "most refinements"));
    before = 0;
    for (size_t left = reader.number(file_size, "runs"); left; --left) {
        before += reader.number(UINT32_MAX - before, "block of a run");
        details.run_starts.push_back(uint32_t(before));
    }
    return details;
}

}  // namespace

void write_number(uint64_t number, std::vector<uint8_t>& bytes) {
    for (; number >> 7; number >>= 7) bytes.push_back(uint8_t(number | 128));
    bytes.push_back(uint8_t(number));
}

uint8_t NumberReader::byte() {
    if (position_ == size_) throw TruncatedPayload("description ends too early", kSection);
    return bytes_[position_++];
}

uint64_t NumberReader::number(uint64_t most, const char* name) {
    uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
        const uint64_t byte = this->byte();
        if (shift + 7 > kNumberBits + 1)
            throw CorruptPayload(std::string(name) + " has too many bytes", kSection);
        number |= (byte & 127) << shift;
        if (byte < 128) {
            if (!byte && shift)
                throw CorruptPayload(std::string(name) + " has too many bytes", kSection);
            break;
        }
    }
    if (number > most)
        throw CorruptPayload(std::string(name) + " = " + std::to_string(number) +
                                 ", allowed are 0 to " + std::to_string(most),
                             kSection);
    return number;
}

void Description::write(std::vector<uint8_t>& bytes) const {
    write_number(pictures.size(), bytes);
    size_t before = 0;
    for (const DescribedPicture& picture : pictures) {
        write_number(picture.start - before, bytes);
        before = picture.start;
        write_number(picture.stripes.size(), bytes);
        for (const Stripe& stripe : picture.stripes) {
            write_number(size_t(stripe.rows), bytes);
            write_number(stripe.bytes, bytes);
        }
    }
    write_number(scans.size(), bytes);
    before = 0;
    for (const DescribedScan& scan : scans) {
        write_number(size_t(scan.picture), bytes);
        write_number(scan.start - before, bytes);
        before = scan.start;
        write_details(scan.details, bytes);
    }
    write_number(stored.size(), bytes);
    for (const StoredRange& range : stored) {
        write_number(range.coded, bytes);
        write_number(range.stored, bytes);
    }
}

size_t Description::most_parts_of(size_t file_size) { return file_size / 8 + 1; }

size_t Description::stripes() const {
    size_t count = 0;
    for (const DescribedPicture& picture : pictures)
        count += std::max<size_t>(1, picture.stripes.size());
    return count;
}

size_t Description::read(const uint8_t* bytes, size_t size, size_t file_size,
                         uint64_t most_stripes) {
    constexpr size_t kMostRows = 65535;
    const size_t most_parts = most_parts_of(file_size);
    constexpr uint64_t kMostBytes = UINT64_MAX >> 2;
    NumberReader reader(bytes, size);
    size_t before = 0;
    size_t left = reader.number(std::min<uint64_t>(most_parts, most_stripes), "pictures");
    for (uint64_t spare = most_stripes - left; left; --left) {
        before += reader.number(file_size - before, "start of a picture");
        DescribedPicture picture{before, {}};
        size_t stripes = reader.number(std::min<uint64_t>(kMostRows, spare + 1), "stripes");
        if (stripes) spare -= stripes - 1;
        for (; stripes; --stripes) {
            const int rows = int(reader.number(kMostRows, "rows of a stripe"));
            if (!rows) throw CorruptPayload("a stripe has no rows", kSection);
            const uint64_t own = reader.number(kMostBytes, "bytes of a stripe");
            picture.stripes.push_back({rows, size_t(std::min<uint64_t>(own, SIZE_MAX))});
        }
        pictures.push_back(std::move(picture));
    }
    before = 0;
    left = reader.number(most_parts, "scans");
    scans.reserve(std::min(left, (size - reader.position()) / kLeastScanNumbers));
    for (; left; --left) {
        if (pictures.empty()) throw CorruptPayload("a scan has no picture", kSection);
        const int picture = int(reader.number(pictures.size() - 1, "picture of a scan"));
        before += reader.number(file_size - before, "start of a scan");
        scans.push_back({before, picture, read_details(reader, file_size)});
    }
    for (left = reader.number(most_parts, "stored ranges"); left; --left) {
        const size_t coded = reader.number(file_size, "coded bytes");
        stored.push_back({coded, size_t(reader.number(file_size, "stored bytes"))});
    }
    return reader.position();
}

}  // namespace mmp::jpeg
