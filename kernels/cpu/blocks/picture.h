// Decoded samples and units of a picture, or of a window of it in which the search tries blocks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cpu/blocks/planes.h"
#include "cpu/blocks/prediction.h"
#include "cpu/runtime/zeroed.h"
#include "shared/blocks/partition.h"

namespace mmp {

// Units of a picture, or of a window of it: what the symbols of the blocks say. The contexts of a
// block depend on nothing else, so symbols can be read before samples are rebuilt.
class BlockUnits {
public:
    // Height and width of the picture are multiples of 4. The object holds a window of `rows` x
    // `columns` samples from (first_row, first_column) on; rows and columns are coordinates of the
    // whole picture.
    BlockUnits(int height, int width) : BlockUnits(height, width, 0, 0, height, width) {}
    BlockUnits(int height, int width, int first_row, int first_column, int rows, int columns)
        : height(height),
          width(width),
          first_row_(first_row),
          first_column_(first_column),
          rows_(rows),
          columns_(columns),
          units_(zeroed<Unit>(size_t(rows) * columns >> (2 * kUnitLog2))) {}

    const int height, width;

    Unit& unit(int row, int column) {
        return units_[size_t((row - first_row_) >> kUnitLog2) * (columns_ >> kUnitLog2) +
                      ((column - first_column_) >> kUnitLog2)];
    }
    const Unit& unit(int row, int column) const {
        return const_cast<BlockUnits*>(this)->unit(row, column);
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
        const int row = block.row + block.height() - 1, column = block.column + block.width() - 1;
        return mmp::likely_modes(above(block), left(block),
                                 block.row > 0 ? unit(block.row - 1, column) : Unit{},
                                 block.column > 0 ? unit(row, block.column - 1) : Unit{});
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
    int shown_height(const BlockPlace& block) const {
        return std::min(block.height(), height - block.row);
    }
    int shown_width(const BlockPlace& block) const {
        return std::min(block.width(), width - block.column);
    }
    void mark(const BlockPlace& block, const Unit& with) {
        for (int i = 0; i < shown_height(block); i += kUnit)
            std::fill_n(&unit(block.row + i, block.column), shown_width(block) >> kUnitLog2, with);
    }

protected:
    int first_row_, first_column_, rows_, columns_;
    Zeroed<Unit> units_;
};

template <class Sample>
class BlockPicture : public BlockUnits {
public:
    // Number of samples after the last one that vector loads may read; their values do not matter.
    static constexpr int kReadBeyond = 32;

    // The window is that of BlockUnits. `earlier` must outlive the object and is null without earlier
    // planes.
    BlockPicture(int height, int width, Depth<Sample> depth, const EarlierPlanes<Sample>* earlier)
        : BlockPicture(height, width, depth, earlier, 0, 0, height, width) {}
    BlockPicture(int height, int width, Depth<Sample> depth, const EarlierPlanes<Sample>* earlier,
                 int first_row, int first_column, int rows, int columns);

    const Depth<Sample> depth;
    const EarlierPlanes<Sample>* const earlier;

    const Sample* at(int row, int column) const { return &samples_[number_of(row, column)]; }
    Sample* at(const BlockPlace& block) { return &samples_[number_of(block.row, block.column)]; }
    ptrdiff_t stride() const { return columns_; }
    // Moves the window to (first_row, first_column) and copies that region from `other`.
    void move_to(int first_row, int first_column, const BlockPicture& other);

    // Returns the number of decoded references above and the number left of a block.
    std::pair<int, int> known_references(const BlockPlace& block) const;
    // Returns the references above and left of a block, padded by repeating the last decoded one.
    References<Sample> references(const BlockPlace& block) const;
    References<Sample> references(const BlockPlace& block, int above, int left) const;

    void write(const BlockPlace& block, const Sample* samples);
    void write(int row, int column, const Sample* samples, int count);
    void read(const BlockPlace& block, Sample* samples) const;

private:
    size_t number_of(int row, int column) const {
        return size_t(row - first_row_) * columns_ + (column - first_column_);
    }

    std::unique_ptr<Sample[]> samples_;  // not cleared: each is written before it is used
};

}  // namespace mmp
