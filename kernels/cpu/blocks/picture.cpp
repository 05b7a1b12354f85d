#include "cpu/blocks/picture.h"

#include "shared/trees/scales.h"
#include "cpu/runtime/simd.h"

#include <string.h>

#include <algorithm>

namespace mmp {

namespace {

// Samples to fit, with their neighbours, as differences from the middle level.
class Fit {
public:
    MMP_SIMD_LEVELS void take(const uint8_t* from, int count, const ptrdiff_t* neighbours) {
        for (int p = 0; p < kTerms; ++p)
            for (int i = 0; i < count; ++i)
                values_[p][count_ + i] = int16_t(from[neighbours[p] + i] - kMidLevel);
        count_ += count;
    }
    // Of products of a neighbour with this and the later ones.
    MMP_SIMD_LEVELS void sums(int32_t (*out)[kTerms]) const {
        for (int p = 0; p < kTaps; ++p)
            for (int q = p; q < kTerms; ++q) {
                int32_t sum = 0;
                for (int i = 0; i < count_; ++i) sum += values_[p][i] * values_[q][i];
                out[p][q] = sum;
            }
    }

private:
    static constexpr int kMost = 6 * (kMaxSide + 12) + 6 * kMaxSide;
    int16_t values_[kTerms][kMost];
    int count_ = 0;
};

}  // namespace

template <class Sample>
BlockPicture<Sample>::BlockPicture(int height, int width, Depth<Sample> depth, int first_row,
                                   int first_column, int rows, int columns)
    : height(height),
      width(width),
      depth(depth),
      first_row_(first_row),
      first_column_(first_column),
      rows_(rows),
      columns_(columns),
      samples_(zeroed<Sample>(size_t(rows) * columns + kReadBeyond)),
      bytes_(kIsByte<Sample> ? nullptr : zeroed<uint8_t>(size_t(rows) * columns + kReadBeyond)),
      units_(zeroed<Unit>(size_t(rows) * columns >> (2 * kUnitLog2))) {}

template <class Sample>
void BlockPicture<Sample>::move_to(int first_row, int first_column, const BlockPicture& other) {
    first_row_ = first_row, first_column_ = first_column;
    std::fill_n(&units_[0], rows_ * columns_ >> (2 * kUnitLog2), Unit{});
    const int from_row = std::max(first_row, other.first_row_);
    const int to_row = std::min({first_row + rows_, other.first_row_ + other.rows_, height});
    const int from = std::max(first_column, other.first_column_);
    const int to = std::min({first_column + columns_, other.first_column_ + other.columns_, width});
    if (from >= to) return;
    for (int row = from_row; row < to_row; ++row) {
        write(row, from, other.at(row, from), to - from);
        if (row % kUnit == 0)
            std::copy_n(&other.unit(row, from), (to - from) >> kUnitLog2, &unit(row, from));
    }
}

template <class Sample>
References<Sample> BlockPicture<Sample>::references(const BlockPlace& block) const {
    const int length = block.height() + block.width();
    int above = 0, left = 0;
    while (above < length && known(block.row - 1, block.column + above)) above += kUnit;
    while (left < length && known(block.row + left, block.column - 1)) left += kUnit;
    return references(block, above, left);
}

template <class Sample>
References<Sample> BlockPicture<Sample>::references(const BlockPlace& block, int above,
                                                    int left) const {
    References<Sample> r;
    const int length = block.height() + block.width();
    for (int j = 0; j < above; ++j) r.above[j] = *at(block.row - 1, block.column + j);
    for (int i = 0; i < left; ++i) r.left[i] = *at(block.row + i, block.column - 1);
    const auto first = above ? r.above[0] : left ? r.left[0] : Wide<Sample>(depth.middle());
    std::fill(r.above + above, r.above + length, above ? r.above[above - 1] : first);
    std::fill(r.left + left, r.left + length, left ? r.left[left - 1] : first);
    r.corner = above && left ? *at(block.row - 1, block.column - 1) : first;
    return r;
}

template <class Sample>
void BlockPicture<Sample>::predict_least_squares(const BlockPlace& block, Sample* out) const {
    const int y = block.row, x = block.column, h = block.height(), w = block.width();
    const ptrdiff_t across = stride();
    const ptrdiff_t neighbours[kTerms] = {-1, -across, -across - 1, -across + 1, -2,
                                           -2 * across, 0};
    Fit fit;
    const auto learn = [&](int row, int first, int last) {
        if (last > first) fit.take(bytes(row, first), last - first, neighbours);
    };
    // All above and left of the block is decoded; to its right, some.
    const auto known_to = [&](int row) {
        int column = x + w;
        while (column < x + w + kFitReach + 1 && known(row, column)) column += kUnit;
        return column;
    };
    const int first = std::max(2, x - kFitReach);
    for (int row = std::max(2, y - kFitReach); row < y; ++row)
        learn(row, first,
              std::min({width - 1, x + w + kFitReach, known_to(row), known_to(row - 1) - 1}));
    for (int row = y; row < y + h; ++row) learn(row, first, row == y ? x : x - 1);
    int32_t sums[kTaps][kTerms];
    fit.sums(sums);
    int64_t m[kTaps][kTaps + 1];
    for (int p = 0; p < kTaps; ++p)
        for (int q = 0; q <= kTaps; ++q)
            m[p][q] = (int64_t{q < p ? sums[q][p] : sums[p][q]} + (p == q ? kDiagonal : 0)) * kFitScale;
    for (int i = 0; i < kTaps; ++i) {
        for (int k = i; k <= kTaps; ++k) m[i][k] = limited(m[i][k], kMostValue);
        const int64_t pivot = std::max<int64_t>(m[i][i], kFitScale);
        m[i][i] = pivot;
        for (int r = i + 1; r < kTaps; ++r) {
            const int64_t f = limited(limited(m[r][i], kMostValue) * 65536 / pivot, kMostFactor);
            for (int k = i; k <= kTaps; ++k) m[r][k] -= (f * m[i][k]) >> 16;
        }
    }
    int64_t weight[kTaps];
    for (int i = kTaps - 1; i >= 0; --i) {
        int64_t t = m[i][kTaps] * 4096;
        for (int k = i + 1; k < kTaps; ++k) t -= m[i][k] * weight[k];
        weight[i] = limited(t / m[i][i], kMostWeight);
    }
    // In 1/16 of a sample's unit, with two rows above, two columns left and one right of the block.
    int32_t values[(kMaxSide + 2) * (kMaxSide + 3)];
    const int row_length = w + 3;
    int32_t* v = values + 2 * row_length + 2;
    const auto decoded = [&](int row, int column) {
        return (*at(row, column) - depth.middle()) * 16;
    };
    for (int i = -2; i < 0; ++i) {
        for (int j = -2; j < w; ++j) v[i * row_length + j] = decoded(y + i, x + j);
        v[i * row_length + w] = known(y + i, x + w) ? decoded(y + i, x + w) : v[i * row_length + w - 1];
    }
    for (int i = 0; i < h; ++i)
        for (int j = -2; j < 0; ++j) v[i * row_length + j] = decoded(y + i, x + j);
    using Sum = std::conditional_t<kIsByte<Sample>, int32_t, int64_t>;
    const Sum c[kTaps] = {Sum(weight[0]), Sum(weight[1]), Sum(weight[2]),
                          Sum(weight[3]), Sum(weight[4]), Sum(weight[5])};
    for (int i = 0; i < h; ++i) {
        for (int j = 0; j < w; ++j) {
            const int32_t* n = v + i * row_length + j;
            const Sum sum = c[0] * n[-1] + c[1] * n[-row_length] + c[2] * n[-row_length - 1] +
                            c[3] * n[-row_length + 1] + c[4] * n[-2] + c[5] * n[-2 * row_length];
            const int32_t value = fitted_value(sum, depth.middle());
            v[i * row_length + j] = value;
            out[i * w + j] = Sample(fitted_sample(value, depth.middle()));
        }
        v[i * row_length + w] = v[i * row_length + w - 1];
    }
}

template <class Sample>
int BlockPicture<Sample>::shown_height(const BlockPlace& block) const {
    return std::min(block.height(), height - block.row);
}

template <class Sample>
int BlockPicture<Sample>::shown_width(const BlockPlace& block) const {
    return std::min(block.width(), width - block.column);
}

template <class Sample>
void BlockPicture<Sample>::mark(const BlockPlace& block, const Unit& with) {
    for (int i = 0; i < shown_height(block); i += kUnit)
        std::fill_n(&unit(block.row + i, block.column), shown_width(block) >> kUnitLog2, with);
}

template <class Sample>
void BlockPicture<Sample>::write(const BlockPlace& block, const Sample* samples) {
    for (int i = 0; i < shown_height(block); ++i)
        write(block.row + i, block.column, samples + i * block.width(), shown_width(block));
}

template <class Sample>
void BlockPicture<Sample>::write(int row, int column, const Sample* samples, int count) {
    const size_t first = number_of(row, column);
    memcpy(&samples_[first], samples, count * sizeof *samples);
    if constexpr (!kIsByte<Sample>)
        for (int i = 0; i < count; ++i) bytes_[first + i] = uint8_t(samples[i] >> depth.extra());
}

template <class Sample>
void BlockPicture<Sample>::read(const BlockPlace& block, Sample* samples) const {
    for (int i = 0; i < shown_height(block); ++i)
        std::copy_n(at(block.row + i, block.column), shown_width(block),
                    samples + i * block.width());
}

template class BlockPicture<uint8_t>;
template class BlockPicture<uint16_t>;

}  // namespace mmp
