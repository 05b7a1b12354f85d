#include "cpu/jpeg/codec.h"

#include <math.h>

#include <algorithm>
#include <string>

#include "cpu/jpeg/bytes_coder.h"
#include "cpu/jpeg/description.h"
#include "cpu/jpeg/file.h"
#include "cpu/jpeg/levels/coder.h"
#include "cpu/runtime/errors.h"
#include "cpu/runtime/thread_team.h"

namespace mmp::jpeg {

namespace {

constexpr char kSection[] = "Kept JPEG files";

// Bytes of scans for which a picture has a stripe more, and how many it has at most.
constexpr size_t kStripeBytes = 1536 << 10;
constexpr size_t kMostStripes = 16;
// Files up to this size are coded in several forms.
constexpr size_t kSmallFile = 256 << 10;

// Bytes of a file for which memory is taken before they are decoded.
constexpr size_t kMostReserved = size_t{64} << 20;

// Most bytes of the description and the coded bytes of the rest.
size_t most_coded_bytes(size_t file_size) { return 2 * file_size + 1024; }

// Returns the number of MCU rows up to the last one with a level that is not 0.
int used_rows(const Picture& picture) {
    int used = 0;
    for (const Component& own : picture.components) {
        const int down = own.rows / picture.mcu_rows;
        const size_t levels = size_t(own.columns) * kBlockLevels;
        int row = own.rows;
        while (row > used * down &&
               std::all_of(own.block(row - 1, 0), own.block(row - 1, 0) + levels,
                           [](int16_t level) { return level == 0; }))
            --row;
        used = std::max(used, (row + down - 1) / down);
    }
    return used;
}

// What coding the rows of MCUs up to each one costs, as a number of levels that are not 0.
std::vector<uint64_t> costs_of(const Picture& picture, int rows) {
    constexpr uint64_t kBlock = 2;
    std::vector<uint64_t> costs(size_t(rows) + 1);
    for (const Component& own : picture.components) {
        const int down = own.rows / picture.mcu_rows;
        const ptrdiff_t levels = ptrdiff_t(own.columns) * kBlockLevels;
        for (int row = 0; row < rows * down; ++row) {
            const int16_t* line = own.block(row, 0);
            costs[size_t(row / down) + 1] +=
                uint64_t(levels - std::count(line, line + levels, 0)) + kBlock * own.columns;
        }
    }
    for (int row = 0; row < rows; ++row) costs[size_t(row) + 1] += costs[size_t(row)];
    return costs;
}

// Divides rows among stripes of about equal costs: one, two or a multiple of four, which keep two or
// four threads equally busy.
std::vector<Stripe> stripes_of(const Picture& picture, int rows, size_t scan_bytes,
                               uint64_t most) {
    size_t wanted = std::clamp<size_t>(scan_bytes / kStripeBytes, 1, kMostStripes);
    wanted = size_t(std::min<uint64_t>(wanted, most));
    wanted -= wanted < 4 ? wanted == 3 : wanted % 4;
    const int count = std::min(int(wanted), rows);
    std::vector<Stripe> stripes;
    if (count < 1) return stripes;
    const std::vector<uint64_t> costs = costs_of(picture, rows);
    int from = 0;
    for (int i = 1; i <= count; ++i) {
        int to = from + 1;
        while (to < rows - (count - i) && costs[size_t(to)] * count < costs.back() * i) ++to;
        stripes.push_back({i < count ? to - from : rows - from, 0});
        from = to;
    }
    return stripes;
}

// Bytes that look like noise are stored: coding takes time and saves nothing.
std::vector<StoredRange> stored_ranges(const std::vector<uint8_t>& rest) {
    constexpr size_t kWindow = 1 << 12;
    constexpr double kMostBits = 7.9;  // a byte
    std::vector<StoredRange> ranges;
    size_t coded = 0;
    for (size_t from = 0; from + kWindow <= rest.size(); from += kWindow) {
        size_t counts[256] = {};
        for (size_t i = from; i < from + kWindow; ++i) ++counts[rest[i]];
        double bits = 0;
        for (const size_t count : counts)
            if (count) bits -= double(count) * log2(double(count) / kWindow);
        if (bits < kMostBits * kWindow) {
            coded += kWindow;
            continue;
        }
        if (!ranges.empty() && coded == 0)
            ranges.back().stored += kWindow;
        else
            ranges.push_back({coded, kWindow});
        coded = 0;
    }
    return ranges;
}

struct Task {
    size_t picture, stripe;
    int first_row;
    const uint8_t* payload = nullptr;
};

// The stripes of all pictures, or of one.
std::vector<Task> tasks_of(const std::vector<DescribedPicture>& pictures) {
    std::vector<Task> tasks;
    for (size_t i = 0; i < pictures.size(); ++i) {
        int row = 0;
        for (size_t j = 0; j < pictures[i].stripes.size(); ++j) {
            tasks.push_back({i, j, row});
            row += pictures[i].stripes[j].rows;
        }
    }
    return tasks;
}

struct CodedLevels {
    int form = 0;
    size_t bytes = SIZE_MAX;  // of all stripes
    std::vector<std::vector<uint8_t>> stripes;
};

// Codes the levels of all pictures in some forms, and returns those of the form with the fewest
// bytes. The bytes of its stripes are entered into the description.
CodedLevels smallest_levels(const SplitFile& file, Description& description, int first_form,
                            int last_form, int threads) {
    const std::vector<Task> tasks = tasks_of(description.pictures);
    std::vector<CodedLevels> all(size_t(last_form - first_form + 1));
    for (CodedLevels& own : all) {
        own.form = first_form + int(&own - all.data());
        own.stripes.resize(tasks.size());
    }
    const size_t count = tasks.size() * all.size();
    ThreadTeam team(std::min<int>(threads, int(std::max<size_t>(count, 1))));
    team.run(uint32_t(count), [&](uint32_t number) {
        // Higher forms take longer, so they begin first.
        CodedLevels& own = all[all.size() - 1 - number / tasks.size()];
        const Task& task = tasks[number % tasks.size()];
        own.stripes[number % tasks.size()] =
            encode_levels(*file.pictures[task.picture].picture, task.first_row,
                          description.pictures[task.picture].stripes[task.stripe].rows, own.form);
    });
    CodedLevels* smallest = nullptr;
    for (CodedLevels& own : all) {
        own.bytes = 0;
        for (const auto& stripe : own.stripes) own.bytes += stripe.size();
        if (!smallest || own.bytes < smallest->bytes) smallest = &own;
    }
    for (size_t i = 0; i < tasks.size(); ++i)
        description.pictures[tasks[i].picture].stripes[tasks[i].stripe].bytes =
            smallest->stripes[i].size();
    return std::move(*smallest);
}

// A file that nothing makes smaller.
KeptFile stored_file(const uint8_t* data, size_t size) {
    Description description;
    if (size) description.stored.push_back({0, size});
    std::vector<uint8_t> coded;
    description.write(coded);
    const std::vector<uint8_t> payload = encode_bytes(coded);
    KeptFile kept;
    write_number(coded.size(), kept.payload);
    write_number(payload.size(), kept.payload);
    kept.payload.insert(kept.payload.end(), payload.begin(), payload.end());
    kept.payload.insert(kept.payload.end(), data, data + size);
    kept.stored_bytes = size;
    return kept;
}

}  // namespace

KeptFile encode_file(const uint8_t* data, size_t size, int form, int threads,
                     uint64_t most_level_bytes) {
    SplitFile file = split(data, size, most_level_bytes);
    KeptFile kept;
    Description description;
    std::vector<size_t> scan_bytes(file.pictures.size());
    for (KeptScan& scan : file.scans) {
        scan_bytes[scan.picture] += scan.size;
        description.scans.push_back(
            {scan.start - kept.scan_bytes, scan.picture, std::move(scan.details)});
        kept.scan_bytes += scan.size;
    }
    uint64_t spare = file.level_bytes_left / kStripeCost;
    for (size_t i = 0; i < file.pictures.size(); ++i) {
        const Picture& picture = *file.pictures[i].picture;
        description.pictures.push_back(
            {file.pictures[i].start,
             stripes_of(picture, used_rows(picture), scan_bytes[i], spare + 1)});
        spare -= std::max<size_t>(1, description.pictures.back().stripes.size()) - 1;
    }
    const CodedLevels levels = smallest_levels(
        file, description, size > kSmallFile ? form : 1, form, threads);
    kept.form = levels.form;

    description.stored = stored_ranges(file.rest);
    std::vector<uint8_t> coded, stored;
    description.write(coded);
    auto next = file.rest.begin();
    for (const StoredRange& range : description.stored) {
        coded.insert(coded.end(), next, next + range.coded);
        next += range.coded;
        stored.insert(stored.end(), next, next + range.stored);
        next += range.stored;
    }
    coded.insert(coded.end(), next, file.rest.end());
    kept.stored_bytes = stored.size();
    if (coded.size() > most_coded_bytes(size) ||
        description.scans.size() > Description::most_parts_of(size))
        return stored_file(data, size);

    const std::vector<uint8_t> payload = encode_bytes(coded);
    if (payload.size() + stored.size() + levels.bytes > size) return stored_file(data, size);
    write_number(coded.size(), kept.payload);
    write_number(payload.size(), kept.payload);
    const auto append = [&](const std::vector<uint8_t>& bytes) {
        kept.payload.insert(kept.payload.end(), bytes.begin(), bytes.end());
    };
    append(payload);
    append(stored);
    for (const auto& own : levels.stripes) append(own);
    return kept;
}

bool is_whole(const uint8_t* data, size_t size, uint64_t most_level_bytes) {
    const SplitFile file = split(data, size, most_level_bytes);
    return !file.pictures.empty() && file.pictures[0].start == 0 && file.pictures[0].whole;
}

namespace {

// Puts the parts of a file together again.
class Joiner {
public:
    Joiner(const uint8_t* payload, size_t size, size_t file_size, int form, int threads,
           uint64_t most_level_bytes)
        : payload_(payload),
          size_(size),
          file_size_(file_size),
          form_(form),
          level_bytes_left_(most_level_bytes),
          team_(threads) {}

    std::vector<uint8_t> join() {
        read_payload();
        bytes_.reserve(std::min(file_size_, kMostReserved) + 2 * kWrittenAhead);
        std::vector<size_t> last(pictures_.size());
        for (size_t i = 0; i < description_.scans.size(); ++i)
            last[size_t(description_.scans[i].picture)] = i;
        for (size_t i = 0; i < description_.scans.size(); ++i) {
            const DescribedScan& scan = description_.scans[i];
            take_rest_before(scan);
            write_scan(scan);
            // A file may have thousands of pictures, each with its tables.
            if (last[size_t(scan.picture)] == i) pictures_[size_t(scan.picture)].reset();
        }
        take_rest(rest_.size() - next_);
        if (bytes_.size() != file_size_)
            throw CorruptPayload("file has " + std::to_string(bytes_.size()) + " bytes, not " +
                                     std::to_string(file_size_),
                                 kSection);
        return std::move(bytes_);
    }

    std::vector<uint8_t> join_front() {
        read_payload();
        for (const DescribedScan& scan : description_.scans) {
            take_rest_before(scan);
            if (scan.picture == 0) return std::move(bytes_);
            write_scan(scan);
        }
        take_rest(rest_.size() - next_);
        return std::move(bytes_);
    }

private:
    void read_payload() {
        read_rest();
        tasks_ = tasks_of(description_.pictures);
        for (Task& task : tasks_) {
            const size_t bytes = description_.pictures[task.picture].stripes[task.stripe].bytes;
            task.payload = take(bytes);
        }
        if (size_) throw CorruptPayload("payload has bytes behind the last stripe", kSection);
        pictures_.resize(description_.pictures.size());
        positions_.resize(pictures_.size());
    }

    const uint8_t* take(size_t count) {
        if (count > size_) throw TruncatedPayload("payload ends too early", kSection);
        payload_ += count;
        size_ -= count;
        return payload_ - count;
    }

    void read_rest() {
        NumberReader numbers(payload_, size_);
        const size_t coded_size = numbers.number(most_coded_bytes(file_size_), "coded bytes");
        const size_t bytes = numbers.number(size_, "bytes of coded bytes");
        take(numbers.position());
        const std::vector<uint8_t> coded = decode_bytes(take(bytes), bytes, coded_size);
        size_t next = description_.read(coded.data(), coded.size(), file_size_,
                                        level_bytes_left_ / kStripeCost);
        level_bytes_left_ -= kStripeCost * description_.stripes();
        const auto move = [&](size_t count) {
            if (count > coded.size() - next)
                throw TruncatedPayload("coded bytes end too early", kSection);
            rest_.insert(rest_.end(), coded.begin() + next, coded.begin() + next + count);
            next += count;
        };
        for (const StoredRange& range : description_.stored) {
            move(range.coded);
            const uint8_t* stored = take(range.stored);
            rest_.insert(rest_.end(), stored, stored + range.stored);
        }
        move(coded.size() - next);
    }

    void take_rest_before(const DescribedScan& scan) {
        take_rest(scan.start - scan_before_);
        scan_before_ = scan.start;
    }

    void take_rest(size_t count) {
        if (count > rest_.size() - next_)
            throw CorruptPayload("a scan begins behind the other bytes", kSection);
        bytes_.insert(bytes_.end(), rest_.begin() + next_, rest_.begin() + next_ + count);
        next_ += count;
        if (bytes_.size() > file_size_) too_large();
    }
    [[noreturn]] void too_large() const {
        throw CorruptPayload("file has more than its " + std::to_string(file_size_) + " bytes",
                             kSection);
    }

    void write_scan(const DescribedScan& scan) {
        auto& picture = pictures_[scan.picture];
        size_t& position = positions_[scan.picture];
        const bool is_first = !picture;
        if (is_first) {
            picture = std::make_unique<Picture>();
            position = description_.pictures[scan.picture].start + 2;
        }
        do {
            if (position > bytes_.size() ||
                read_markers(bytes_.data(), bytes_.size(), position, *picture) != Stop::scan)
                throw CorruptPayload("no header of a scan ends where its data begins", kSection);
        } while (position != bytes_.size());
        if (is_first) decode_picture(scan.picture);
        if (!picture->components[picture->scan.components[0]].levels.get())
            throw CorruptPayload("a picture has no levels", kSection);
        if (!picture->counts_scan())
            throw CorruptPayload("scans have more than " + std::to_string(kMostPasses) +
                                     " times the blocks of their picture",
                                 kSection);
        write_scan_data(*picture, scan.details, bytes_, file_size_);
        if (bytes_.size() > file_size_) too_large();
        position = bytes_.size();
    }

    void decode_picture(int number) {
        Picture& picture = *pictures_[number];
        if (picture.level_bytes() > level_bytes_left_)
            throw CorruptPayload("levels take " + std::to_string(picture.level_bytes()) +
                                     " bytes, allowed are " + std::to_string(level_bytes_left_),
                                 kSection);
        level_bytes_left_ -= picture.level_bytes();
        int64_t rows = 0;
        for (const Stripe& stripe : description_.pictures[number].stripes) rows += stripe.rows;
        if (rows > picture.mcu_rows)
            throw CorruptPayload("stripes have " + std::to_string(rows) + " rows, the picture " +
                                     std::to_string(picture.mcu_rows),
                                 kSection);
        picture.allocate();
        std::vector<const Task*> own;
        for (const Task& task : tasks_)
            if (task.picture == size_t(number)) own.push_back(&task);
        team_.run(uint32_t(own.size()), [&](uint32_t i) {
            const Task& task = *own[i];
            const Stripe& stripe = description_.pictures[number].stripes[task.stripe];
            decode_levels(task.payload, stripe.bytes, picture, task.first_row, stripe.rows, form_);
        });
    }

    const uint8_t* payload_;
    size_t size_;
    const size_t file_size_;
    const int form_;
    uint64_t level_bytes_left_;
    ThreadTeam team_;
    Description description_;
    std::vector<Task> tasks_;
    std::vector<uint8_t> rest_, bytes_;
    size_t next_ = 0;         // first byte of the rest that is not taken
    size_t scan_before_ = 0;  // place of the scan before in the rest
    std::vector<std::unique_ptr<Picture>> pictures_;
    std::vector<size_t> positions_;  // of the pictures: behind the last marker segment
};

}  // namespace

std::vector<uint8_t> decode_file(const uint8_t* payload, size_t size, size_t file_size, int form,
                                 int threads, uint64_t most_level_bytes) {
    return Joiner(payload, size, file_size, form, threads, most_level_bytes).join();
}

std::vector<uint8_t> decode_front(const uint8_t* payload, size_t size, size_t file_size, int form,
                                  uint64_t most_level_bytes) {
    return Joiner(payload, size, file_size, form, 1, most_level_bytes).join_front();
}

}  // namespace mmp::jpeg
