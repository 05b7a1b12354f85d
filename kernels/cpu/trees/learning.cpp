// Learning: how the dictionaries grow after a fragment is coded. Source: section "Learning" of
// docs/format/format.md.
#include <algorithm>
#include <cstring>

#include "cpu/trees/picture.h"
#include "cpu/trees/rescale.h"
#include "shared/trees/displaced.h"

namespace mmp {

namespace {

template <int Width>
void copy_rows_of(const uint8_t* from, size_t stride, int height, uint8_t* to) {
    for (int row = 0; row < height; ++row, from += stride, to += Width)
        std::memcpy(to, from, Width);
}

void copy_rows(const uint8_t* from, size_t stride, int height, int width, uint8_t* to) {
    switch (width) {
        case 4: return copy_rows_of<4>(from, stride, height, to);
        case 8: return copy_rows_of<8>(from, stride, height, to);
        default: return copy_rows_of<16>(from, stride, height, to);
    }
}

}  // namespace

void Picture::insert(int scale, Candidates& candidates, const Listener* listener) {
    const int count = candidates.count;
    dictionaries[scale]->insert(candidates);
    if (!listener) return;
    for (int i = 0; i < count; ++i)
        if (candidates.index[i] != kNoIndex)
            listener->call(listener->context, scale, candidates.index[i]);
}

void Picture::learn_width(const Fragment& fragment, int m, const std::vector<Node>& nodes,
                          const Listener* listener) {
    Candidates waiting[kLevels];  // by height number n
    learn_splits(m, nodes, waiting, listener);
    if (copies) learn_copies(m, nodes, waiting, listener);
    for (int n = 0; n < kLevels; ++n) {
        const int scale = scale_number(n, m);
        if (!copies && tools.displaced_blocks && dictionaries[scale] && takes_displaced(scale))
            learn_displaced(fragment, scale, waiting[n], listener);
        if (waiting[n].count) insert(scale, waiting[n], listener);
    }
}

void Picture::learn_splits(int m, const std::vector<Node>& nodes, Candidates* waiting,
                           const Listener* listener) {
    for (const Node& node : nodes) {
        if (node.flag == kLeaf) continue;
        Targets targets{};
        for (int n = 0; n < kLevels; ++n) {
            const int scale = scale_number(n, m);
            // The dictionary of single samples holds every gray level from the start.
            if (!dictionaries[scale] || scale == kPixelScale ||
                scale_distance(node.scale, scale) > tools.copy_radius)
                continue;
            if (waiting[n].count == Candidates::kMost) insert(scale, waiting[n], listener);
            targets[n] = waiting[n].samples + waiting[n].count * scale_area(scale);
            waiting[n].origin[waiting[n].count++] = static_cast<uint8_t>(node.scale);
        }
        rescale(&coded_[node.top() * kFragmentSize + node.left()], node.scale, m, targets);
    }
}

void Picture::learn_copies(int m, const std::vector<Node>& nodes, Candidates* waiting,
                           const Listener* listener) {
    for (const Node& node : nodes) {
        if (node.flag != kLeaf || !is_copy(node.index) || scale_m(node.scale) != m) continue;
        Candidates& copied = waiting[scale_n(node.scale)];
        if (copied.count == Candidates::kMost) insert(node.scale, copied, listener);
        copy_rows(&coded_[node.top() * kFragmentSize + node.left()], kFragmentSize,
                  scale_height(node.scale), scale_width(node.scale),
                  copied.samples + copied.count * scale_area(node.scale));
        copied.origin[copied.count++] = used_class(kDisplacedClass);
    }
}

void Picture::learn_displaced(const Fragment& fragment, int scale, Candidates& waiting,
                              const Listener* listener) {
    const int height = scale_height(scale), width = scale_width(scale);
    const int down = displaced_step(height, tools.displaced_blocks);
    const int right = displaced_step(width, tools.displaced_blocks);
    for (int bottom = down; bottom <= kFragmentSize; bottom += down) {
        const int row = fragment.row + bottom - height;
        for (int side = right; side <= kFragmentSize; side += right) {
            const int column = fragment.column + side - width;
            if (!is_displaced(scale, row, column) || row + height > padded_height ||
                column + width > padded_width)
                continue;
            if (waiting.count == Candidates::kMost) insert(scale, waiting, listener);
            copy_rows(&samples_[place(row, column)], static_cast<size_t>(padded_width), height,
                      width, waiting.samples + waiting.count * scale_area(scale));
            waiting.origin[waiting.count++] = kDisplacedClass;
        }
    }
}

}  // namespace mmp
