// Decoded samples and units of a picture, or of a window of it in which the search tries blocks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <utility>

#include "cpu/blocks/planes.h"
#include "cpu/blocks/prediction.h"
#include "cpu/blocks/units.h"

namespace mmp {

template <class Sample>
class BlockPicture : public BlockUnits {
public:
    // Number of samples after the last one that vector loads may read; their values do not matter.
    static constexpr int kReadBeyond = 32;

    // The window is that of BlockUnits. `earlier` must outlive the object and is null without earlier planes.
    BlockPicture(int height, int width, Depth<Sample> depth, const EarlierPlanes<Sample>* earlier)
        : BlockPicture(height, width, depth, earlier, 0, 0, height, width) {}
    BlockPicture(int height, int width, Depth<Sample> depth, const EarlierPlanes<Sample>* earlier,
                 int first_row, int first_column, int rows, int columns);

    const Depth<Sample> depth;
    const EarlierPlanes<Sample>* const earlier;

    const Sample* at(int row, int column) const { return &samples_[number_of(row, column)]; }
    // The most significant eight bits of the samples from (row, column) on.
    const uint8_t* bytes(int row, int column) const {
        if constexpr (kIsByte<Sample>)
            return at(row, column);
        else
            return &bytes_[number_of(row, column)];
    }
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

    Zeroed<Sample> samples_;
    Zeroed<uint8_t> bytes_;  // null for 8-bit samples
};

}  // namespace mmp
