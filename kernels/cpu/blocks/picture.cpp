#include "cpu/blocks/picture.h"

#include <string.h>

#include <algorithm>

namespace mmp {

template <class Sample>
BlockPicture<Sample>::BlockPicture(int height, int width, Depth<Sample> depth,
                                   const EarlierPlanes<Sample>* earlier, int first_row,
                                   int first_column, int rows, int columns)
    : BlockUnits(height, width, first_row, first_column, rows, columns),
      depth(depth),
      earlier(earlier),
      samples_(new Sample[size_t(rows) * columns + kReadBeyond]) {}

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
std::pair<int, int> BlockPicture<Sample>::known_references(const BlockPlace& block) const {
    const int length = block.height() + block.width();
    const int across = std::min({length, first_column_ + columns_ - block.column,
                                 width - block.column});
    const int down = std::min({length, first_row_ + rows_ - block.row, height - block.row});
    int above = 0, left = 0;
    if (holds(block.row - 1, block.column))
        for (const Unit* next = &unit(block.row - 1, block.column);
             above < across && next->known(); ++next)
            above += kUnit;
    if (holds(block.row, block.column - 1))
        for (const Unit* next = &unit(block.row, block.column - 1); left < down && next->known();
             next += columns_ >> kUnitLog2)
            left += kUnit;
    return {above, left};
}

template <class Sample>
References<Sample> BlockPicture<Sample>::references(const BlockPlace& block) const {
    const auto [above, left] = known_references(block);
    return references(block, above, left);
}

template <class Sample>
References<Sample> BlockPicture<Sample>::references(const BlockPlace& block, int above,
                                                    int left) const {
    References<Sample> r;
    const int length = block.height() + block.width();
    if (above) {
        const Sample* row = at(block.row - 1, block.column);
        for (int j = 0; j < above; ++j) r.above[j] = row[j];
    }
    if (left) {
        const Sample* column = at(block.row, block.column - 1);
        for (int i = 0; i < left; ++i) r.left[i] = column[i * columns_];
    }
    const auto first = above ? r.above[0] : left ? r.left[0] : Wide<Sample>(depth.middle());
    std::fill(r.above + above, r.above + length, above ? r.above[above - 1] : first);
    std::fill(r.left + left, r.left + length, left ? r.left[left - 1] : first);
    r.corner = above && left ? *at(block.row - 1, block.column - 1) : first;
    return r;
}

template <class Sample>
void BlockPicture<Sample>::write(const BlockPlace& block, const Sample* samples) {
    for (int i = 0; i < shown_height(block); ++i)
        write(block.row + i, block.column, samples + i * block.width(), shown_width(block));
}

template <class Sample>
void BlockPicture<Sample>::write(int row, int column, const Sample* samples, int count) {
    memcpy(&samples_[number_of(row, column)], samples, count * sizeof *samples);
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
