// Decoded samples and units of a picture, or of a window of it in which the search tries blocks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <utility>

#include "cpu/blocks/planes.h"
#include "cpu/blocks/prediction.h"
#include "cpu/runtime/zeroed.h"
#include "shared/blocks/partition.h"

namespace mmp {

template <class Sample>
class BlockPicture {
public:
    // Number of samples after the last one that vector loads may read; their values do not matter.
    static constexpr int kReadBeyond = 32;

    // Height and width of the picture are multiples of 4. The object holds a window of `rows` x
    // `columns` samples from (first_row, first_column) on; rows and columns are coordinates of the
    // whole picture. `earlier` must outlive the object and is null without earlier planes.
    BlockPicture(int height, int width, Depth<Sample> depth, const EarlierPlanes<Sample>* earlier)
        : BlockPicture(height, width, depth, earlier, 0, 0, height, width) {}
    BlockPicture(int height, int width, Depth<Sample> depth, const EarlierPlanes<Sample>* earlier,
                 int first_row, int first_column, int rows, int columns);

    const int height, width;
    const Depth<Sample> depth;
    const EarlierPlanes<Sample>* const earlier;

    const Sample* at(int row, int column) const { return &samples_[number_of(row, column)]; }
    Sample* at(const BlockPlace& block) { return &samples_[number_of(block.row, block.column)]; }
    ptrdiff_t stride() const { return columns_; }
    Unit& unit(int row, int column) {
        return units_[size_t((row - first_row_) >> kUnitLog2) * (columns_ >> kUnitLog2) +
                      ((column - first_column_) >> kUnitLog2)];
    }
    const Unit& unit(int row, int column) const {
        return const_cast<BlockPicture*>(this)->unit(row, column);
    }
    bool holds(int row, int column) const {
        return row >= first_row_ && column >= first_column_ && row < first_row_ + rows_ &&
               column < first_column_ + columns_ && row < height && column < width;
    }
    bool known(int row, int column) const {
        return holds(row, column) && unit(row, column).known();
    }

    bool is_outside(const BlockPlace& block) const {
        return mmp::is_outside(block, height, width);
    }
    Flag forced_flag(const BlockPlace& block) const {
        return mmp::forced_flag(block, height, width);
    }

    // Moves the window to (first_row, first_column) and copies that region from `other`.
    void move_to(int first_row, int first_column, const BlockPicture& other);

    // Returns the number of decoded references above and the number left of a block.
    std::pair<int, int> known_references(const BlockPlace& block) const;
    // Returns the references above and left of a block, padded by repeating the last decoded one.
    References<Sample> references(const BlockPlace& block) const;
    References<Sample> references(const BlockPlace& block, int above, int left) const;

    int split_context(const BlockPlace& block) const {
        return mmp::split_context(block.a, block.b, above(block), left(block));
    }
    int direction_context(const BlockPlace& block) const {
        return mmp::direction_context(block.a, block.b, above(block), left(block));
    }
    int kind_context(const BlockPlace& block) const {
        return mmp::kind_context(above(block), left(block));
    }
    int tree_context(const BlockPlace& block) const {
        return mmp::tree_context(above(block), left(block));
    }
    LikelyModes likely_modes(const BlockPlace& block) const {
        return mmp::likely_modes(above(block), left(block));
    }
    int planes_context(const BlockPlace& block) const {
        return mmp::planes_context(above(block), left(block));
    }

    // The units above and left of the first sample of a block, which give its contexts.
    Unit above(const BlockPlace& block) const {
        return block.row > 0 ? unit(block.row - 1, block.column) : Unit{};
    }
    Unit left(const BlockPlace& block) const {
        return block.column > 0 ? unit(block.row, block.column - 1) : Unit{};
    }

    // Height and width of the part of a block that lies inside the picture.
    int shown_height(const BlockPlace& block) const;
    int shown_width(const BlockPlace& block) const;
    void mark(const BlockPlace& block, const Unit& unit);
    void write(const BlockPlace& block, const Sample* samples);
    void write(int row, int column, const Sample* samples, int count);
    void read(const BlockPlace& block, Sample* samples) const;

private:
    size_t number_of(int row, int column) const {
        return size_t(row - first_row_) * columns_ + (column - first_column_);
    }

    int first_row_, first_column_, rows_, columns_;
    Zeroed<Sample> samples_;
    Zeroed<Unit> units_;
};

}  // namespace mmp
