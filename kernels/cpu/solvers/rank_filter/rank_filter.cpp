#include "cpu/solvers/rank_filter/rank_filter.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <type_traits>
#include <vector>

#include "cpu/solvers/rank_filter/lanes.h"
#include "cpu/solvers/rank_filter/ordered_tile.h"
#include "cpu/solvers/rank_filter/window_histogram.h"

namespace mmp {

namespace {

constexpr int64_t kTasks = 256;

// A rectangle of the result: first row and column, numbers of rows and columns.
struct Tile {
    int64_t row, column, rows, columns;
};

template <class T>
class TileFilter {
public:
    TileFilter(const BorderedPicture<T>& picture, const int32_t* ranks, T* out, uint8_t* found)
        : picture_(picture), ranks_(ranks), out_(out), found_(found) {}

    // Returns whether any sample is NaN, if all samples are valid.
    bool filter(const Tile& tile) {
        const Window window = picture_.window;
        const int64_t rows = tile.rows + window.height - 1;
        const int64_t columns = tile.columns + window.width - 1;
        bool nan = false;
        gather(picture_.samples, tile, rows, columns, values_, [&](T sample) {
            nan |= sample != sample;
            return to_key(sample);
        });
        const uint8_t* valid = nullptr;
        if (picture_.valid) {
            gather(picture_.valid, tile, rows, columns, valid_, [](uint8_t each) { return each; });
            valid = valid_.data();
        } else if (nan) {
            return true;
        }
        const uint8_t* bins;
        if constexpr (kOrdered) {
            order_.sort(values_.data(), valid, rows, columns);
            bins = order_.bins();
        } else {
            bins = values_.data();
        }
        found_bins_.resize(tile.columns);
        places_.resize(tile.columns);
        WindowHistogram histogram(columns, window.width);
        const auto enter = [&](int64_t row) {
            histogram.enter(bins + row * columns, valid ? valid + row * columns : nullptr);
        };
        for (int64_t row = 0; row < window.height; ++row) enter(row);
        for (int64_t row = 0;;) {
            histogram.find(ranks_, found_bins_.data(), places_.data());
            write(tile, row);
            const int64_t left = row, entered = row + window.height;
            if (++row == tile.rows) return false;
            if (valid) {
                histogram.leave(bins + left * columns, valid + left * columns);
                enter(entered);
            } else {
                histogram.replace(bins + left * columns, bins + entered * columns);
            }
        }
    }

private:
    static constexpr bool kOrdered = !std::is_same_v<T, uint8_t>;

    // Sets `out` to made(sample) for all samples under the windows of a tile.
    template <class Sample, class Made, class Make>
    void gather(const Sample* samples, const Tile& tile, int64_t rows, int64_t columns,
                std::vector<Made>& out, const Make& made) const {
        out.resize(rows * columns);
        for (int64_t row = 0; row < rows; ++row) {
            const Sample* from = samples + picture_.row_of[tile.row + row] * picture_.stride;
            for (int64_t column = 0; column < columns; ++column)
                out[row * columns + column] = made(from[picture_.column_of[tile.column + column]]);
        }
    }

    void write(const Tile& tile, int64_t row) {
        const int64_t at = (tile.row + row) * picture_.columns + tile.column;
        if constexpr (kOrdered)
            order_.look_up(row, tile.columns, picture_.window, found_bins_.data(),
                           places_.data(), out_ + at);
        else
            std::copy(found_bins_.begin(), found_bins_.end(), out_ + at);
        if (!found_) return;
        for (int64_t x = 0; x < tile.columns; ++x)
            found_[at + x] = places_[x] != WindowHistogram::kNothing;
    }

    const BorderedPicture<T>& picture_;
    const int32_t* ranks_;
    T* out_;
    uint8_t* found_;
    std::conditional_t<kOrdered, OrderedTile<T>, char> order_{};
    std::vector<Key<T>> values_;
    std::vector<uint8_t> valid_, found_bins_;
    std::vector<uint16_t> places_;
};

// Adjacent tiles share samples under their windows, which are processed twice, so tiles grow with
// the window. But large tiles take longer to sort and to search.
template <class T>
int64_t tile_side(int window_side) {
    if (sizeof(T) == 1) return 512;
    const unsigned side = static_cast<unsigned>(window_side + window_side / 2);
    return std::clamp(std::bit_ceil(side), 64u, 256u);
}

}  // namespace

template <class T>
bool rank_filter(const BorderedPicture<T>& picture, const int32_t* ranks, T* out, uint8_t* found,
                 ThreadTeam& team) {
    const Window window = picture.window;
    const int64_t height = tile_side<T>(window.height), width = tile_side<T>(window.width);
    const int64_t across = (picture.columns + width - 1) / width;
    const int64_t tiles = (picture.rows + height - 1) / height * across;
    const int64_t tasks = std::min(tiles, kTasks);
    std::atomic<bool> nan = false;
    team.run(static_cast<uint32_t>(tasks), [&](uint32_t task) {
        TileFilter<T> filter(picture, ranks, out, found);
        for (int64_t tile = tiles * task / tasks; tile < tiles * (task + 1) / tasks; ++tile) {
            const int64_t row = tile / across * height, column = tile % across * width;
            if (nan) return;
            if (filter.filter({row, column, std::min(height, picture.rows - row),
                               std::min(width, picture.columns - column)}))
                nan = true;
        }
    });
    return nan;
}

#define MMP_INSTANTIATE(T)                                                             \
    template bool rank_filter(const BorderedPicture<T>&, const int32_t*, T*, uint8_t*, \
                              ThreadTeam&);
MMP_EACH_SAMPLE(MMP_INSTANTIATE)

}  // namespace mmp
