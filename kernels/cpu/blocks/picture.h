// Decoded samples and units of a picture, or of the part of a picture on which a search tries
// blocks.
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
    // The number of samples after the last one that may be read; their values do not matter.
    static constexpr int kReadBeyond = 32;

    // Height and width of the picture are multiples of 4. The object holds only `rows` rows and
    // `columns` columns from (first_row, first_column) on. Rows and columns count in the whole
    // picture.
    // `earlier` outlives it, or is null if no earlier planes predict it.
    BlockPicture(int height, int width, Depth<Sample> depth, const EarlierPlanes<Sample>* earlier)
        : BlockPicture(height, width, depth, earlier, 0, 0, height, width) {}
    BlockPicture(int height, int width, Depth<Sample> depth, const EarlierPlanes<Sample>* earlier,
                 int first_row, int first_column, int rows, int columns);

    const int height, width;
    const Depth<Sample> depth;
    const EarlierPlanes<Sample>* const earlier;

    const Sample* at(int row, int column) const { return &samples_[number_of(row, column)]; }
    // The upper eight bits of the samples from this one on.
    const uint8_t* bytes(int row, int column) const {
        if constexpr (kIsByte<Sample>)
            return at(row, column);
        else
            return &bytes_[number_of(row, column)];
    }
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

    // Moves the held part to this place and copies all that the other picture holds there.
    void move_to(int first_row, int first_column, const BlockPicture& other);

    // The numbers of decoded references above and left of a block.
    std::pair<int, int> known_references(const BlockPlace& block) const;
    // Returns the decoded samples above and left of a block, the last ones repeated.
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

    // The units above and left of a block's first sample.
    Unit above(const BlockPlace& block) const {
        return block.row > 0 ? unit(block.row - 1, block.column) : Unit{};
    }
    Unit left(const BlockPlace& block) const {
        return block.column > 0 ? unit(block.row, block.column - 1) : Unit{};
    }

    // The height and width of the part of a block that lies in the picture.
    int shown_height(const BlockPlace& block) const;
    int shown_width(const BlockPlace& block) const;
    void mark(const BlockPlace& block, const Unit& unit);
    void write(const BlockPlace& block, const Sample* samples);
    // Writes one row.
    void write(int row, int column, const Sample* samples, int count);
    void read(const BlockPlace& block, Sample* samples) const;

private:
    size_t number_of(int row, int column) const {
        return size_t(row - first_row_) * columns_ + (column - first_column_);
    }

    int first_row_, first_column_, rows_, columns_;
    Zeroed<Sample> samples_;
    Zeroed<uint8_t> bytes_;  // null where samples are bytes
    Zeroed<Unit> units_;
};

}  // namespace mmp
