#include "dictionary.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace mmp {

namespace {

constexpr size_t kCellSize = 16;  // elements that a new one of their cell is compared with
constexpr int kCells = 256;
constexpr int kHandSteps = 64;  // elements that replacement looks at

}  // namespace

Dictionary::Dictionary(int scale, const Tools& tools)
    : ElementCounts(scale, tools),
      area_(scale_area(scale)),
      limit_(tools.dictionary_limit),
      classes_(tools.index_classes),
      replacement_(tools.replacement),
      radius_(scale == kPixelScale ? 0 : tools.redundancy_radius),
      table_(4 * kGreyLevels),
      cells_(radius_ ? kCells : 0) {
    std::vector<uint8_t> constant(area_);
    for (int level = 0; level < kGreyLevels; ++level) {
        std::fill(constant.begin(), constant.end(), static_cast<uint8_t>(level));
        const Look look = look_at(constant.data());
        if (level == kMidLevel || !redundant(constant.data(), look))
            put(size(), constant.data(), hash(constant.data()), look, kPixelScale);
    }
    start_ = hand_ = size();
}

uint32_t Dictionary::hash(const uint8_t* samples) const {
    constexpr uint64_t multiplier = 0x9E3779B97F4A7C15;
    uint64_t state = 0;
    if (area_ < 8) {
        std::memcpy(&state, samples, static_cast<size_t>(area_));
        state *= multiplier;
    }
    for (int i = 0; i + 8 <= area_; i += 8) {
        uint64_t word;
        std::memcpy(&word, samples + i, 8);
        state = (state ^ word) * multiplier;
        state ^= state >> 32;
    }
    return static_cast<uint32_t>(state >> 32 ^ state);
}

size_t Dictionary::find(const uint8_t* samples, uint32_t hash) const {
    size_t slot = hash & (table_.size() - 1);
    for (; table_[slot].number; slot = next(slot))
        if (table_[slot].hash == hash &&
            !std::memcmp(element(table_[slot].number - 1), samples, area_))
            break;
    return slot;
}

uint32_t Dictionary::insert(const uint8_t* samples, uint32_t hash, int origin) {
    if (table_[find(samples, hash)].number) return kNoIndex;
    const Look look = look_at(samples);
    if (redundant(samples, look)) return kNoIndex;
    const uint32_t index = size() < limit_ ? size() : replaced();
    if (index == kNoIndex) return kNoIndex;
    if (index < size()) forget(index);
    put(index, samples, hash, look, origin);
    return index;
}

void Dictionary::put(uint32_t index, const uint8_t* samples, uint32_t hash, const Look& look,
                     int origin) {
    int c = 0;
    if (classes_) {
        const bool zero =
            std::all_of(samples, samples + area_, [](uint8_t s) { return s == kMidLevel; });
        c = zero ? kZeroClass : origin;
    }
    table_[find(samples, hash)] = {hash, index + 1};
    if (index == size()) {
        samples_.insert(samples_.end(), samples, samples + area_);
        add(c);
        if (2 * size() > table_.size()) grow_table();
    } else {
        std::copy_n(samples, area_, &samples_[size_t{index} * area_]);
        restart(index, c);
    }
    if (radius_) {
        std::vector<Member>& members = cells_[look.cell];
        if (members.size() == kCellSize) members.erase(members.begin());
        members.push_back({index, look.sum});
    }
}

void Dictionary::grow_table() {
    std::vector<Slot> table(2 * table_.size());
    for (const Slot& old : table_) {
        if (!old.number) continue;
        size_t slot = old.hash & (table.size() - 1);
        while (table[slot].number) slot = (slot + 1) & (table.size() - 1);
        table[slot] = old;
    }
    table_.swap(table);
}

Dictionary::Look Dictionary::look_at(const uint8_t* samples) const {
    if (!radius_) return {};
    const int height = scale_height(scale()), width = scale_width(scale());
    const int down = height > 1, across = width > 1;  // halved or not
    const int high = height >> down, wide = width >> across;
    const int cell_shift = area_log2(scale()) - down - across + 6;
    Look look{};
    for (int k = 0; k <= down; ++k)
        for (int l = 0; l <= across; ++l) {
            const uint8_t* row = samples + k * high * width + l * wide;
            int sum = 0;
            for (int i = 0; i < high; ++i, row += width) sum = std::accumulate(row, row + wide, sum);
            look.cell = look.cell << 2 | sum >> cell_shift;
            look.sum += sum;
        }
    return look;
}

bool Dictionary::redundant(const uint8_t* samples, const Look& look) const {
    if (!radius_) return false;
    for (const Member& member : cells_[look.cell]) {
        // Squared error is at least (difference of the sums)^2 / area.
        const int64_t gap = look.sum - member.sum;
        if (gap * gap > int64_t{radius_} * area_) continue;
        const uint8_t* other = element(member.index);
        int distance = 0;
        for (int i = 0; i < area_; ++i)
            distance += (samples[i] - other[i]) * (samples[i] - other[i]);
        if (distance <= radius_) return true;
    }
    return false;
}

uint32_t Dictionary::replaced() {
    if (!replacement_ || start_ == limit_) return kNoIndex;
    for (int step = 0; step < kHandSteps; ++step) {
        const uint32_t index = hand_;
        hand_ = index + 1 < limit_ ? index + 1 : start_;
        if (count(index) == 1) return index;
    }
    return kNoIndex;
}

void Dictionary::forget(uint32_t index) {
    const uint8_t* samples = element(index);
    if (radius_)
        std::erase_if(cells_[look_at(samples).cell],
                      [index](const Member& member) { return member.index == index; });
    size_t gap = find(samples, hash(samples));
    // What was pushed past the gap moves into it, unless that lies before its own place.
    for (size_t slot = next(gap); table_[slot].number; slot = next(slot)) {
        const size_t mask = table_.size() - 1;
        if (((slot - table_[slot].hash) & mask) < ((slot - gap) & mask)) continue;
        table_[gap] = table_[slot];
        gap = slot;
    }
    table_[gap] = {};
}

}  // namespace mmp
