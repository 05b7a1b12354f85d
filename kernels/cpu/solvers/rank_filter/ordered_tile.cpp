#include "cpu/solvers/rank_filter/ordered_tile.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cpu/runtime/simd.h"
#include "cpu/solvers/rank_filter/window_histogram.h"

namespace mmp {

namespace {

constexpr int kLanes = 16;

// For each window of a row: sets found[x] to the index of item number places[x] of bin bins[x],
// counting only items inside window x. `rows` and `columns` are the positions of the items, grouped
// by bin.
MMP_SIMD_LEVELS void find_places(const uint16_t* rows, const uint16_t* columns, size_t bin_size,
                                 int64_t row, int64_t count, Window window, const uint8_t* bins,
                                 const uint16_t* places, uint32_t* found) {
    const auto height = static_cast<uint16_t>(window.height);
    const auto width = static_cast<uint16_t>(window.width);
    for (int64_t x = 0; x < count; ++x) {
        if (places[x] == WindowHistogram::kNothing) continue;
        int place = places[x];
        for (size_t i = bins[x] * bin_size;; i += kLanes) {
            Words16 at_row, at_column;
            __builtin_memcpy(&at_row, rows + i, sizeof at_row);
            __builtin_memcpy(&at_column, columns + i, sizeof at_column);
            const LaneMask inside((at_row - static_cast<uint16_t>(row) < height) &
                                  (at_column - static_cast<uint16_t>(x) < width));
            const int low = inside.count(0), both = low + inside.count(1);
            if (place >= both) {
                place -= both;
                continue;
            }
            const int half = place >= low;
            uint64_t lanes = inside.halves[half];
            for (place -= half * low; place > 0; --place)
                lanes &= ~(uint64_t{0xFF} << __builtin_ctzll(lanes));
            found[x] = static_cast<uint32_t>(i + half * 8 + __builtin_ctzll(lanes) / 8);
            break;
        }
    }
}

}  // namespace

template <class T>
void OrderedTile<T>::sort(const Key<T>* keys, const uint8_t* valid, int64_t rows, int64_t columns) {
    items_.clear();
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column)
            if (const int64_t i = row * columns + column; !valid || valid[i])
                items_.push_back({keys[i], static_cast<uint16_t>(row),
                                  static_cast<uint16_t>(column)});
    sort_items();
    const size_t count = items_.size();
    bin_size_ = (count + 255) / 256;
    // Padding items lie in no window; they allow whole vector loads at the end.
    rows_.assign(count + kLanes, UINT16_MAX);
    columns_.assign(count + kLanes, UINT16_MAX);
    bins_.resize(rows * columns);
    int bin = 0;
    for (size_t i = 0, end = bin_size_; i < count; ++i) {
        if (i == end) {
            ++bin;
            end += bin_size_;
        }
        rows_[i] = items_[i].row;
        columns_[i] = items_[i].column;
        bins_[items_[i].row * columns + items_[i].column] = static_cast<uint8_t>(bin);
    }
}

template <class T>
void OrderedTile<T>::sort_items() {
    // LSD radix sort, which is stable, so equal values stay in the order of their positions.
    constexpr int kBits = 8 * sizeof(T), kDigit = kBits <= 16 ? 8 : 11;
    spare_.resize(items_.size());
    for (int shift = 0; shift < kBits; shift += kDigit) {
        std::array<uint32_t, 1 << kDigit> starts{};
        const auto digit = [&](const Item& item) {
            return item.value >> shift & ((1 << kDigit) - 1);
        };
        for (const Item& item : items_) ++starts[digit(item)];
        uint32_t sum = 0;
        for (uint32_t& start : starts) sum += std::exchange(start, sum);
        for (const Item& item : items_) spare_[starts[digit(item)]++] = item;
        items_.swap(spare_);
    }
}

template <class T>
void OrderedTile<T>::look_up(int64_t row, int64_t count, Window window, const uint8_t* bins,
                             const uint16_t* places, T* out) {
    found_.resize(count);
    find_places(rows_.data(), columns_.data(), bin_size_, row, count, window, bins, places,
                found_.data());
    for (int64_t x = 0; x < count; ++x)
        out[x] = places[x] == WindowHistogram::kNothing
                     ? T{0}
                     : from_key<T>(items_[found_[x]].value);
}

#define MMP_INSTANTIATE(T) template class OrderedTile<T>;
MMP_EACH_SAMPLE(MMP_INSTANTIATE)

}  // namespace mmp
