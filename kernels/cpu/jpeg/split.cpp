#include <string.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "cpu/jpeg/description.h"
#include "cpu/jpeg/file.h"

namespace mmp::jpeg {

namespace {

struct Range {
    size_t begin, end;
};

// Returns the place of the first picture in a range, or its end.
size_t find_start(const uint8_t* data, Range range) {
    for (size_t at = range.begin; at + 3 < range.end; ++at) {
        const void* found = memchr(data + at, 0xFF, range.end - at - 3);
        if (!found) break;
        at = size_t(static_cast<const uint8_t*>(found) - data);
        if (data[at + 1] == kStart && data[at + 2] == 0xFF && data[at + 3] >= kBaseline &&
            data[at + 3] != 0xFF)
            return at;
    }
    return range.end;
}

// One picture of the file, read as often as scans turn out to need limits.
class PictureReader {
public:
    PictureReader(const uint8_t* data, Range range, uint64_t most_level_bytes)
        : data_(data), range_(range), most_level_bytes_(most_level_bytes) {}

    // Returns whether any scan is kept.
    bool read() {
        for (int tries = 0; tries < 4; ++tries) {
            if (!read_scans()) return false;
            if (agrees()) return true;
        }
        return false;
    }

    std::unique_ptr<Picture> picture;
    std::vector<KeptScan> scans;
    bool whole = false;  // see KeptPicture

private:
    // Reads the scans whose limit is not 0.
    bool read_scans() {
        picture = std::make_unique<Picture>();
        scans.clear();
        size_t position = range_.begin + 2;
        bool allocated = false, all = true;
        while (read_markers(data_, range_.end, position, *picture) == Stop::scan) {
            const auto limit = limits_.find(position);
            const size_t most = limit == limits_.end() ? SIZE_MAX : limit->second;
            if (most == 0 || !picture->counts_scan()) {
                all = false;
                continue;
            }
            if (!allocated) {
                if (picture->level_bytes() + kStripeCost > most_level_bytes_) return false;
                picture->allocate();
                allocated = true;
            }
            KeptScan scan;
            scan.start = position;
            scan.size = read_scan_data(data_ + position, range_.end - position, most, *picture,
                                       scan.details);
            all = all && scan.size && !scan.details.cut && most == SIZE_MAX;
            if (scan.size == 0) continue;  // another scan may have the same place
            if (most != SIZE_MAX) scan.details.cut = scan.size = most;
            position += scan.size;
            scans.push_back(std::move(scan));
        }
        whole = all && data_[position - 2] == 0xFF && data_[position - 1] == kEnd;
        return !scans.empty();
    }

    // Returns whether the scans are written as they are in the file; else sets limits where not.
    bool agrees() {
        Picture again;
        size_t position = range_.begin + 2;
        std::vector<uint8_t> bytes;
        bool all = true;
        // The levels are lent to the reader of the headers.
        auto next = scans.begin();
        while (next != scans.end() &&
               read_markers(data_, range_.end, position, again) == Stop::scan) {
            if (position != next->start) continue;
            if (next == scans.begin())
                for (size_t i = 0; i < again.components.size(); ++i)
                    again.components[i].levels = std::move(picture->components[i].levels);
            bytes.clear();
            write_scan_data(again, next->details, bytes);
            const size_t most = std::min(bytes.size(), next->size);
            const size_t same =
                size_t(std::mismatch(bytes.begin(), bytes.begin() + most, data_ + position).first -
                       bytes.begin());
            if (same != next->size || bytes.size() != next->size) {
                limits_[position] = same > kLeastBytes ? same : 0;
                all = false;
            }
            position += next->size;
            ++next;
        }
        for (size_t i = 0; i < again.components.size(); ++i)
            picture->components[i].levels = std::move(again.components[i].levels);
        return all;
    }

    // A scan with fewer bytes that can be kept is not.
    static constexpr size_t kLeastBytes = 16;

    const uint8_t* data_;
    const Range range_;
    const uint64_t most_level_bytes_;
    std::map<size_t, size_t> limits_;  // by the starts of scans: bytes that can be kept
};

}  // namespace

SplitFile split(const uint8_t* data, size_t size, uint64_t most_level_bytes) {
    SplitFile file;
    std::vector<Range> open{{0, size}};
    while (!open.empty()) {
        const Range range = open.back();
        open.pop_back();
        const size_t start = find_start(data, range);
        if (start >= range.end) continue;
        PictureReader reader(data, {start, range.end}, most_level_bytes);
        size_t from = start + 2;
        if (reader.read()) {
            for (KeptScan& scan : reader.scans) {
                open.push_back({from, scan.start});
                from = scan.start + scan.size;
                file.scans.push_back(std::move(scan));
                file.scans.back().picture = int(file.pictures.size());
            }
            most_level_bytes -= reader.picture->level_bytes() + kStripeCost;
            file.pictures.push_back({start, std::move(reader.picture), reader.whole});
        }
        open.push_back({from, range.end});
    }
    std::vector<size_t> order(file.pictures.size()), numbers(order.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return file.pictures[a].start < file.pictures[b].start;
    });
    std::vector<KeptPicture> pictures;
    for (const size_t number : order) {
        numbers[number] = pictures.size();
        pictures.push_back(std::move(file.pictures[number]));
    }
    file.pictures = std::move(pictures);
    for (KeptScan& scan : file.scans) scan.picture = int(numbers[scan.picture]);
    std::sort(file.scans.begin(), file.scans.end(),
              [](const KeptScan& a, const KeptScan& b) { return a.start < b.start; });
    size_t from = 0;
    for (const KeptScan& scan : file.scans) {
        file.rest.insert(file.rest.end(), data + from, data + scan.start);
        from = scan.start + scan.size;
    }
    file.rest.insert(file.rest.end(), data + from, data + size);
    file.level_bytes_left = most_level_bytes;
    return file;
}

}  // namespace mmp::jpeg
