// Rank filters with windows of any shape.
//
// The samples of a tile are sorted; each gets one bit at its position in this order. Bits of the
// samples inside the window are set, and the rank is found by counting bits (popcount). The window
// moves in serpentine order, to the right in one row and to the left in the next; each step updates
// the bits of the cells along the window's edges.
//
// Sources: bit set: J. Suomela, "Median filtering is equivalent to sorting", 2014; edges: T. S.
// Huang et al., "A fast two-dimensional median filtering algorithm", 1979.
#include "cpu/solvers/rank_filter/shape_filter.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include "cpu/solvers/rank_filter/ordered_tile.h"

namespace mmp {

namespace {

constexpr int64_t kTasks = 256;
constexpr uint32_t kInvalid = UINT32_MAX;  // marks a sample that windows ignore

struct Cell {
    int row, column;
};

// Cells that leave the window in a move, relative to its old position, and cells that enter,
// relative to its new one.
struct Edges {
    std::vector<Cell> left, entered;
};

// Cells of a window, and the edges for its three moves (right, left, down).
struct Shape {
    std::vector<Cell> all;
    Edges right, left, down;

    Shape(Window window, const uint8_t* cells) {
        const auto has = [&](int row, int column) {
            return row >= 0 && row < window.height && column >= 0 && column < window.width &&
                   cells[row * window.width + column];
        };
        const auto add = [&](Edges& edges, int row, int column, int down, int right) {
            if (!has(row - down, column - right)) edges.left.push_back({row, column});
            if (!has(row + down, column + right)) edges.entered.push_back({row, column});
        };
        for (int row = 0; row < window.height; ++row)
            for (int column = 0; column < window.width; ++column) {
                if (!has(row, column)) continue;
                all.push_back({row, column});
                add(right, row, column, 0, 1);
                add(left, row, column, 0, -1);
                add(down, row, column, 1, 0);
            }
    }
};

// Bit set of the sorted positions of the samples in a window.
class Places {
public:
    void clear(size_t count) {
        words_.assign(count / 64 + 1, 0);
        word_ = 0;
        count_ = below_ = 0;
    }
    MMP_INLINE void enter(uint32_t place) {
        if (place == kInvalid) return;
        words_[place / 64] |= uint64_t{1} << place % 64;
        ++count_;
        below_ += place / 64 < word_;
    }
    MMP_INLINE void leave(uint32_t place) {
        if (place == kInvalid) return;
        words_[place / 64] &= ~(uint64_t{1} << place % 64);
        --count_;
        below_ -= place / 64 < word_;
    }
    int32_t count() const { return count_; }
    // Returns the sorted position of a rank below the count.
    MMP_INLINE uint32_t find(int32_t rank) {
        while (below_ > rank) below_ -= std::popcount(words_[--word_]);
        for (;; ++word_) {
            const int32_t here = std::popcount(words_[word_]);
            if (below_ + here > rank) break;
            below_ += here;
        }
        uint64_t bits = words_[word_];
        for (int32_t left = rank - below_; left > 0; --left) bits &= bits - 1;
        return static_cast<uint32_t>(word_ * 64 + std::countr_zero(bits));
    }

private:
    std::vector<uint64_t> words_;
    size_t word_ = 0;        // word in which the last rank was found
    int32_t count_ = 0, below_ = 0;  // set bits in all words, and before `word_`
};

// Sets found[y][x] to the sorted position of the rank in each window of a tile, or to kInvalid.
MMP_SIMD_LEVELS void find_in_tile(const Shape& shape, const uint32_t* places, int64_t stride,
                                  size_t count, int64_t rows, int64_t columns,
                                  const int32_t* ranks, uint32_t* found) {
    Places window;
    window.clear(count);
    int64_t row = 0, column = 0;
    const auto at = [&](const Cell& cell) MMP_INLINED {
        return places[(row + cell.row) * stride + column + cell.column];
    };
    const auto note = [&]() MMP_INLINED {
        const int32_t valid = window.count();
        found[row * columns + column] = valid ? window.find(ranks[valid]) : kInvalid;
    };
    const auto move = [&](const Edges& edges, int64_t down, int64_t right) MMP_INLINED {
        for (const Cell& cell : edges.left) window.leave(at(cell));
        row += down;
        column += right;
        for (const Cell& cell : edges.entered) window.enter(at(cell));
        note();
    };
    for (const Cell& cell : shape.all) window.enter(at(cell));
    note();
    while (true) {
        const bool to_right = row % 2 == 0;
        for (int64_t step = 1; step < columns; ++step)
            move(to_right ? shape.right : shape.left, 0, to_right ? 1 : -1);
        if (row + 1 == rows) return;
        move(shape.down, 1, 0);
    }
}

template <class T>
class ShapeTiles {
public:
    ShapeTiles(const BorderedPicture<T>& picture, const Shape& shape, const int32_t* ranks, T* out,
               uint8_t* found)
        : picture_(picture), shape_(shape), ranks_(ranks), out_(out), found_(found) {}

    // Filters `rows` x `columns` pixels. Returns whether any sample is NaN, if all are valid.
    bool filter(int64_t top, int64_t left, int64_t rows, int64_t columns) {
        const int64_t height = rows + picture_.window.height - 1;
        const int64_t width = columns + picture_.window.width - 1;
        keys_.resize(height * width);
        valid_.assign(height * width, 1);
        bool nan = false;
        for (int64_t row = 0; row < height; ++row) {
            const int64_t line = picture_.row_of[top + row] * picture_.stride;
            for (int64_t column = 0; column < width; ++column) {
                const int64_t from = line + picture_.column_of[left + column];
                const T sample = picture_.samples[from];
                nan |= sample != sample;
                keys_[row * width + column] = to_key(sample);
                if (picture_.valid) valid_[row * width + column] = picture_.valid[from];
            }
        }
        if (nan && !picture_.valid) return true;
        order_.sort(keys_.data(), valid_.data(), height, width);
        places_.assign(height * width, kInvalid);
        const size_t count = order_.count();
        for (size_t i = 0; i < count; ++i)
            places_[order_.row(i) * width + order_.column(i)] = static_cast<uint32_t>(i);
        at_.resize(rows * columns);
        find_in_tile(shape_, places_.data(), width, count, rows, columns, ranks_, at_.data());
        for (int64_t row = 0; row < rows; ++row) {
            const int64_t to = (top + row) * picture_.columns + left;
            for (int64_t x = 0; x < columns; ++x) {
                const uint32_t place = at_[row * columns + x];
                out_[to + x] = place == kInvalid ? T{0} : order_.value(place);
                if (found_) found_[to + x] = place != kInvalid;
            }
        }
        return false;
    }

private:
    const BorderedPicture<T>& picture_;
    const Shape& shape_;
    const int32_t* ranks_;
    T* out_;
    uint8_t* found_;
    OrderedTile<T> order_;
    std::vector<Key<T>> keys_;
    std::vector<uint8_t> valid_;
    std::vector<uint32_t> places_, at_;
};

// Tiles grow with the window, because adjacent tiles share the samples around them.
int64_t side_of_tile(int window_side) {
    return std::clamp(std::bit_ceil(static_cast<unsigned>(2 * window_side)), 64u, 256u);
}

}  // namespace

template <class T>
bool shape_filter(const BorderedPicture<T>& picture, const uint8_t* cells, const int32_t* ranks,
                  T* out, uint8_t* found, ThreadTeam& team) {
    const Shape shape(picture.window, cells);
    const int64_t height = side_of_tile(picture.window.height);
    const int64_t width = side_of_tile(picture.window.width);
    const int64_t across = (picture.columns + width - 1) / width;
    const int64_t tiles = (picture.rows + height - 1) / height * across;
    const int64_t tasks = std::min(tiles, kTasks);
    std::atomic<bool> nan = false;
    team.run(static_cast<uint32_t>(tasks), [&](uint32_t task) {
        ShapeTiles<T> filter(picture, shape, ranks, out, found);
        for (int64_t tile = tiles * task / tasks; tile < tiles * (task + 1) / tasks; ++tile) {
            const int64_t row = tile / across * height, column = tile % across * width;
            if (nan) return;
            if (filter.filter(row, column, std::min(height, picture.rows - row),
                              std::min(width, picture.columns - column)))
                nan = true;
        }
    });
    return nan;
}

#define MMP_INSTANTIATE(T)                                                               \
    template bool shape_filter(const BorderedPicture<T>&, const uint8_t*, const int32_t*, \
                               T*, uint8_t*, ThreadTeam&);
MMP_EACH_SAMPLE(MMP_INSTANTIATE)

}  // namespace mmp
