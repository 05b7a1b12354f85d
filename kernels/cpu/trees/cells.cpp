#include "cpu/trees/cells.h"

#include <algorithm>

namespace mmp {

// Removes the member at `place`; the oldest member moves to place 0.
void Cells::close(Cell& cell, int place) {
    const int age = (place - cell.oldest + kCellSize) % kCellSize;
    const auto shift = [&](auto* members) {
        std::rotate(members, members + cell.oldest, members + cell.count);
        std::copy(members + age + 1, members + cell.count, members + age);
    };
    for (auto& means : cell.means) shift(means);
    shift(cell.indices);
    --cell.count;
    cell.oldest = 0;
}

}  // namespace mmp
