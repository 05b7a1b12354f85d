#include "cpu/trees/dictionary.h"

#include <algorithm>
#include <cstring>

#include "cpu/runtime/distortion.h"
#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

template <int Width>
MMP_INLINE void sum_parts_of(const uint8_t* samples, int height, int16_t* sums) {
    constexpr int kHalf = Width > 1 ? Width / 2 : 1;
    const int high = height > 1 ? height / 2 : 1;
    for (int k = 0; k * high < height; ++k)
        for (int l = 0; l * kHalf < Width; ++l) {
            const uint8_t* first = samples + k * high * Width + l * kHalf;
            int sum = 0;
            for (int i = 0; i < high; ++i)
                for (int j = 0; j < kHalf; ++j) sum += first[i * Width + j];
            sums[2 * k + l] = static_cast<int16_t>(sum);
        }
}

// Writes the sums of an element's halves or quarters: sums[2 * k + l] for part (k, l).
void sum_parts(const uint8_t* samples, int height, int width, int16_t* sums) {
    switch (width) {
        case 16: return sum_parts_of<16>(samples, height, sums);
        case 8: return sum_parts_of<8>(samples, height, sums);
        case 4: return sum_parts_of<4>(samples, height, sums);
        case 2: return sum_parts_of<2>(samples, height, sums);
        default: return sum_parts_of<1>(samples, height, sums);
    }
}

}  // namespace

Dictionary::Dictionary(int scale, const Tools& tools)
    : ElementCounts(scale, tools),
      area_(scale_area(scale)),
      part_area_(area_ >> (quarters_down(scale) + quarters_across(scale))),
      classes_(tools.index_classes),
      radius_(scale == kPixelScale ? 0 : tools.redundancy_radius),
      table_(4 * kGreyLevels),
      cells_(radius_ ? kCells : 0) {
    std::vector<uint8_t> constant(area_);
    for (int level = 0; level < kGreyLevels; ++level) {
        std::fill(constant.begin(), constant.end(), static_cast<uint8_t>(level));
        const Look look = look_at(constant.data());
        if (!redundant(constant.data(), look))
            put(size(), constant.data(), hash(constant.data()), look, kPixelScale);
    }
    keep_all();
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
    return static_cast<uint32_t>(state >> 32);
}

template <class Same>
size_t Dictionary::find(uint32_t hash, const Same& same) const {
    size_t slot = hash & (table_.size() - 1);
    for (; table_[slot].number; slot = next(slot))
        if (table_[slot].hash == hash && same(table_[slot].number - 1)) break;
    return slot;
}

uint32_t Dictionary::insert(const uint8_t* samples, uint32_t hash, int origin) {
    const size_t slot = find(
        hash, [&](uint32_t index) { return !std::memcmp(element(index), samples, area_); });
    if (table_[slot].number) return kNoIndex;
    const Look look = look_at(samples);
    if (redundant(samples, look)) return kNoIndex;
    const uint32_t index = place();
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
    table_[find(hash, [](uint32_t) { return false; })] = {hash, index + 1};
    if (index == size()) {
        samples_.insert(samples_.end(), samples, samples + area_);
        add(c);
        if (2 * size() > table_.size()) grow_table();
    } else {
        std::copy_n(samples, area_, &samples_[size_t{index} * area_]);
        restart(index, c);
    }
    if (radius_) cells_[look.cell].add({index, look.sums});
    if (replaces()) {
        trails_.resize(size());
        trails_[index] = {hash, look.cell};
    }
}

void Dictionary::Cell::add(const Member& member) {
    if (count == kCellSize) remove(members[0].index);
    members[count++] = member;
}

void Dictionary::Cell::remove(uint32_t index) {
    const auto end = members.begin() + count;
    const auto place =
        std::find_if(members.begin(), end, [&](const Member& m) { return m.index == index; });
    if (place == end) return;
    std::copy(place + 1, end, place);
    --count;
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
    Look look{};
    if (!radius_) return look;
    const int down = quarters_down(scale()), across = quarters_across(scale());
    sum_parts(samples, scale_height(scale()), scale_width(scale()), look.sums.data());
    for (int k = 0; k <= down; ++k)
        for (int l = 0; l <= across; ++l)
            look.cell = uint8_t(look.cell << 2 | quarter_level(scale(), look.sums[2 * k + l]));
    return look;
}

bool Dictionary::redundant(const uint8_t* samples, const Look& look) const {
    if (!radius_) return false;
    const Cell& cell = cells_[look.cell];
    for (int i = 0; i < cell.count; ++i) {
        const Member& member = cell.members[i];
        // A part's squared error is at least (difference of its sums)^2 / (its samples).
        int gaps = 0;
        for (size_t part = 0; part < look.sums.size(); ++part) {
            const int gap = look.sums[part] - member.sums[part];
            gaps += gap * gap;
        }
        if (gaps <= radius_ * part_area_ &&
            squared_difference(samples, element(member.index), area_) <= radius_)
            return true;
    }
    return false;
}

void Dictionary::forget(uint32_t index) {
    if (radius_) cells_[trails_[index].cell].remove(index);
    size_t gap = find(trails_[index].hash, [&](uint32_t other) { return other == index; });
    // A later entry moves into the gap, unless the gap lies before the first slot of its hash.
    for (size_t slot = next(gap); table_[slot].number; slot = next(slot)) {
        const size_t mask = table_.size() - 1;
        if (((slot - table_[slot].hash) & mask) < ((slot - gap) & mask)) continue;
        table_[gap] = table_[slot];
        gap = slot;
    }
    table_[gap] = {};
}

}  // namespace mmp
