// The order of the blocks in a scan.
#pragma once

#include "cpu/jpeg/picture.h"

namespace mmp::jpeg {

// Calls block(component in the scan, levels) for each block of a scan in its order, and restart()
// between restart intervals, until one of them returns false.
template <class Block, class Restart>
bool each_block(const Picture& picture, const Block& block, const Restart& restart) {
    const ScanHeader& scan = picture.scan;
    const Component* own = &picture.components[scan.components[0]];
    const bool alone = scan.components.size() == 1;
    const int rows = alone ? own->own_rows : picture.mcu_rows;
    const int columns = alone ? own->own_columns : picture.mcu_columns;
    int left = picture.restart_interval;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
            if (picture.restart_interval && left-- == 0) {
                if (!restart()) return false;
                left = picture.restart_interval - 1;
            }
            if (alone) {
                if (!block(0, own->block(row, column))) return false;
                continue;
            }
            for (size_t i = 0; i < scan.components.size(); ++i) {
                const Component& part = picture.components[scan.components[i]];
                for (int down = 0; down < part.down; ++down)
                    for (int across = 0; across < part.across; ++across)
                        if (!block(int(i), part.block(row * part.down + down,
                                                      column * part.across + across)))
                            return false;
            }
        }
    return true;
}

}  // namespace mmp::jpeg
