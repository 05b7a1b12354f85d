// Learning: how the dictionaries grow after a fragment is coded. Source: section "Learning" of
// docs/format/format.md.
#include <algorithm>
#include <cstring>

#include "cpu/trees/picture.h"
#include "cpu/trees/rescale.h"

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

void Picture::learn_width(int m, const std::vector<Node>& nodes, const Listener* listener) {
    Candidates waiting[kLevels];  // by height number n
    learn_splits(m, nodes, waiting, listener);
    if (copies) learn_copies(m, nodes, waiting, listener);
    for (int n = 0; n < kLevels; ++n) {
        if (waiting[n].count) insert(scale_number(n, m), waiting[n], listener);
    }
}

void Picture::learn_splits(int m, const std::vector<Node>& nodes, Candidates* waiting,
                           const Listener* listener) {
    for (const Node& node : nodes) {
        if (node.flag == kLeaf) continue;
        uint32_t learners = learners_[node.scale][m];
        if (!learners) continue;
        Targets targets{};
        for (; learners; learners &= learners - 1) {
            const int n = __builtin_ctz(learners), scale = scale_number(n, m);
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

}  // namespace mmp
