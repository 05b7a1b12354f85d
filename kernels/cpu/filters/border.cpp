#include "cpu/filters/border.h"

namespace mmp {

template <class Sample>
void border_filter(const BorderPicture<Sample>& picture, const BorderGrid& grid, int step,
                   int depth, int first) {
    const BorderStrength strength(step, depth);
    const int64_t height = picture.height, width = picture.width;
    const int last = first + (1 << depth) - 1;
    for (int64_t row = 0; row < height; ++row)
        for (int64_t column = grid.left; column < width; column += grid.size)
            LinesAcross<Sample>(picture, strength, column, width, 1, first, last).line(row * width);
    for (int64_t row = grid.top; row < height; row += grid.size) {
        const LinesAcross<Sample> across(picture, strength, row, height, width, first, last);
        for (int64_t column = 0; column < width; ++column) across.line(column);
    }
}

template void border_filter(const BorderPicture<uint8_t>&, const BorderGrid&, int, int, int);
template void border_filter(const BorderPicture<uint16_t>&, const BorderGrid&, int, int, int);

}  // namespace mmp
