// State that encoder and decoder share while they code a picture: models, dictionaries, decoded
// samples.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/trees/dictionary.h"
#include "cpu/trees/models.h"
#include "cpu/runtime/arena.h"
#include "cpu/runtime/progress.h"
#include "shared/tools.h"

namespace mmp {

struct Plane {
    int height, width;
};

// Position (k, l) of the first or second half of a split segment.
inline std::pair<int, int> child_place(int k, int l, int flag, int half) {
    return flag == kColumns ? std::pair{k, 2 * l + half} : std::pair{2 * k + half, l};
}

struct Node {
    int scale, k, l;
    int flag;
    uint32_t index;  // index of a leaf's element

    int top() const { return k * scale_height(scale); }
    int left() const { return l * scale_width(scale); }
};

struct Fragment {
    int row, column;  // position of its first sample
    std::array<int8_t, kFragmentSize> above, left;  // scales of the leaves around it
};

// Width numbers m, sorted by decreasing number of insertions, so that threads finish together.
constexpr std::array<int, kLevels> kLongestFirst{2, 1, 0, 3, 4};

class Picture {
public:
    // Pads height and width to multiples of `unit` samples.
    Picture(Plane plane, const Tools& tools, int unit = kFragmentSize);

    const Tools tools;
    const int padded_height, padded_width;
    Models models;
    CellRates cells;  // one cell per fragment
    Arena arena;  // memory of the dictionaries
    std::vector<std::unique_ptr<Dictionary>> dictionaries;  // by scale; null if unreachable
    std::unique_ptr<Copies> copies;  // null if the tools allow none

    // Calls work(fragment) for each fragment in coding order, and `progress` once per row.
    template <class Work>
    void for_each_fragment(const Progress& progress, const Work& work);

    int context(const Fragment& fragment, int scale, int k, int l) const {
        if (!tools.flag_contexts) return 0;
        return flag_context(scale, fragment.above[l * scale_width(scale) + scale_width(scale) / 2],
                            fragment.left[k * scale_height(scale) + scale_height(scale) / 2]);
    }

    // Returns the fragment that begins at (row, column), with the leaf scales around it. With
    // `size`, it returns the 16x16 area there, with the leaf scales around the enclosing fragment
    // of side `size`.
    Fragment fragment(int row, int column, int size = kFragmentSize) const;

    // Encodes a tree. Calls used(scale, index, all_changed) per index; `all_changed` is the result
    // of ElementCounts::use().
    template <class Used>
    void encode_tree(RangeEncoder& coder, const Fragment& fragment,
                     const std::vector<Node>& nodes, const Used& used) {
        for (const Node& node : nodes) {
            const int around = context(fragment, node.scale, node.k, node.l);
            models.encode_flag(coder, node.scale, around, node.flag);
            if (node.flag != kLeaf) continue;
            Dictionary& dictionary = *dictionaries[node.scale];
            models.encode_index(coder, dictionary, node.index, copies.get());
            if (!is_copy(node.index)) used(node.scale, node.index, dictionary.use(node.index));
        }
    }
    // Decodes the tree of a segment and appends its nodes.
    void decode_tree(RangeDecoder& coder, const Fragment& fragment, int scale, int k, int l,
                     std::vector<Node>& nodes);

    // Charges the rate of the tree that was just coded to its cell.
    void end_fragment(const Fragment& fragment) {
        cells.grow_to(models.tally.sum(), fragment.row, fragment.column, kFragmentSize,
                      kFragmentSize);
    }

    // Samples of a leaf, row by row; `stride` samples lie from one row to the next.
    struct LeafSamples {
        const uint8_t* first;
        size_t stride;
    };
    LeafSamples leaf_samples(const Node& leaf) const {
        if (is_copy(leaf.index)) return copy_samples(leaf.scale, leaf.index);
        return {dictionaries[leaf.scale]->element(leaf.index), size_t(scale_width(leaf.scale))};
    }
    LeafSamples copy_samples(int scale, uint32_t index) const {
        const auto [row, column] = copies->first_sample(scale, index);
        return {&samples_[place(row, column)], size_t(padded_width)};
    }
    // Reconstructs the samples of a coded tree and writes the scales of its leaves to
    // leaf_scales().
    void rebuild(const Fragment& fragment, const std::vector<Node>& nodes);

    // Writes the scales of the leaves of a coded tree to leaf_scales().
    void mark_leaves(const Fragment& fragment, const std::vector<Node>& nodes);
    // Marks a rectangle as not covered by leaves.
    void mark_no_leaf(int row, int column, int height, int width);

    // Lets copies end in the 16x16 area of a fragment, if it has edges; returns whether it has.
    bool add_copies(const Fragment& fragment) {
        return copies->add_area(fragment.row, fragment.column, samples_.get());
    }

    // Copies the samples of a fragment from a picture with the same padded width, for learn().
    void take(const Fragment& fragment, const uint8_t* samples);

    // Learns from the rebuilt fragment: inserts its split segments, then its copies, into the
    // dictionaries of the scales with width number m. Calls added(scale, index) for each new
    // element.
    template <class Added>
    void learn(int m, const std::vector<Node>& nodes, const Added& added) {
        const Listener listener{[](const void* context, int scale, uint32_t index) {
                                    (*static_cast<const Added*>(context))(scale, index);
                                },
                                &added};
        learn_width(m, nodes, &listener);
    }
    void learn(int m, const std::vector<Node>& nodes) { learn_width(m, nodes, nullptr); }
    // Writes the samples without padding, rows from the top.
    void copy_samples(Plane plane, uint8_t* out) const;
    const int8_t* leaf_scales() const { return leaf_scales_.get(); }
    std::array<int64_t, kScales> dictionary_sizes() const;

private:
    // Callback that is notified of new elements; null for none.
    struct Listener {
        void (*call)(const void* context, int scale, uint32_t index);
        const void* context;
    };

    void learn_width(int m, const std::vector<Node>& nodes, const Listener* listener);
    void learn_splits(int m, const std::vector<Node>& nodes, Candidates* waiting,
                      const Listener* listener);
    void learn_copies(int m, const std::vector<Node>& nodes, Candidates* waiting,
                      const Listener* listener);
    void insert(int scale, Candidates& candidates, const Listener* listener);
    // By scale of a split segment, then by width number: bit n of the mask is set if the scale with
    // height number n learns from it.
    std::array<std::array<uint8_t, kLevels>, kScales> learners_{};
    void find_learners();
    size_t place(int row, int column) const { return size_t(row) * padded_width + column; }

    // Samples of the padded picture. Not initialised: a page is first touched when its samples are
    // coded, because a file can claim a larger picture than it contains.
    std::unique_ptr<uint8_t[]> samples_;
    std::unique_ptr<int8_t[]> leaf_scales_;  // kOutside where no leaf is
    std::array<uint8_t, kFragmentArea + kBeyond> coded_{};  // samples of the current fragment
};

template <class Work>
void Picture::for_each_fragment(const Progress& progress, const Work& work) {
    const int64_t total = int64_t{padded_height} * padded_width / kFragmentArea;
    int64_t done = 0;
    for (int row = 0; row < padded_height; row += kFragmentSize) {
        progress(done, total);
        for (int column = 0; column < padded_width; column += kFragmentSize, ++done)
            work(fragment(row, column));
    }
    progress(done, total);
}

}  // namespace mmp
