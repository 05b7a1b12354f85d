#include "cpu/trees/picture.h"

#include <algorithm>
#include <cstring>

namespace mmp {

namespace {

int padded(int length, int unit) { return (length + unit - 1) / unit * unit; }

// Upper bound of the elements of a dictionary: a fragment has fewer splits than samples, and fewer
// leaves.
size_t most_elements(Plane plane) {
    return kGreyLevels +
           2 * size_t(padded(plane.height, kFragmentSize)) * padded(plane.width, kFragmentSize);
}

}  // namespace

Picture::Picture(Plane plane, const Tools& the_tools, int unit)
    : tools(the_tools),
      padded_height(padded(plane.height, unit)),
      padded_width(padded(plane.width, unit)),
      models(tools),
      cells(plane.height, plane.width),
      dictionaries(kScales),
      samples_(std::make_unique_for_overwrite<uint8_t[]>(place(padded_height, 0))),
      leaf_scales_(std::make_unique_for_overwrite<int8_t[]>(place(padded_height, 0))) {
    for (int scale = 0; scale < kScales; ++scale)
        if (scale_reachable(scale, tools.partition))
            dictionaries[scale] = std::make_unique<Dictionary>(scale, tools, most_elements(plane), arena);
    find_learners();
    if (Copies::allowed(tools))
        copies = std::make_unique<Copies>(padded_height, padded_width, tools);
}

void Picture::find_learners() {
    // The dictionary of single samples holds every gray level from the start.
    for (int from = 0; from < kScales; ++from)
        for (int to = 0; to < kPixelScale; ++to) {
            const bool grows = scale_n(to) < scale_n(from) || scale_m(to) < scale_m(from);
            const bool learns = dictionaries[to] && !(grows && Copies::allowed(tools)) &&
                                scale_distance(from, to) <= tools.copy_radius;
            learners_[from][scale_m(to)] |= static_cast<uint8_t>(learns << scale_n(to));
        }
}

Fragment Picture::fragment(int row, int column, int size) const {
    Fragment result{row, column, {}, {}};
    result.above.fill(kOutside);
    result.left.fill(kOutside);
    const int first_row = row - row % size, first_column = column - column % size;
    if (first_row)
        std::copy_n(&leaf_scales_[place(first_row - 1, column)],
                    std::min(kFragmentSize, padded_width - column), result.above.begin());
    if (first_column)
        for (int i = 0; i < std::min(kFragmentSize, padded_height - row); ++i)
            result.left[i] = leaf_scales_[place(row + i, first_column - 1)];
    return result;
}

void Picture::decode_tree(RangeDecoder& coder, const Fragment& fragment, int scale, int k, int l,
                          std::vector<Node>& nodes) {
    const int flag = models.decode_flag(coder, scale, context(fragment, scale, k, l));
    nodes.push_back({scale, k, l, flag, kNoIndex});
    if (flag == kLeaf) {
        Dictionary& dictionary = *dictionaries[scale];
        nodes.back().index = models.decode_index(coder, dictionary, copies.get());
        if (!is_copy(nodes.back().index)) dictionary.use(nodes.back().index);
        return;
    }
    for (int half = 0; half < 2; ++half) {
        const auto [row, column] = child_place(k, l, flag, half);
        decode_tree(coder, fragment, child_scale(scale, flag), row, column, nodes);
    }
}

void Picture::rebuild(const Fragment& fragment, const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
        if (node.flag != kLeaf) continue;
        const auto [first, stride] = leaf_samples(node);
        const int height = scale_height(node.scale), width = scale_width(node.scale);
        for (int i = 0; i < height; ++i) {
            const int row = node.top() + i;
            std::copy_n(first + i * stride, width, &coded_[row * kFragmentSize + node.left()]);
        }
    }
    mark_leaves(fragment, nodes);
    for (int row = 0; row < kFragmentSize; ++row)
        std::copy_n(&coded_[row * kFragmentSize], kFragmentSize,
                    &samples_[place(fragment.row + row, fragment.column)]);
}

void Picture::mark_leaves(const Fragment& fragment, const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
        if (node.flag != kLeaf) continue;
        int8_t* first =
            &leaf_scales_[place(fragment.row + node.top(), fragment.column + node.left())];
        for (int i = 0; i < scale_height(node.scale); ++i)
            std::memset(first + size_t(i) * padded_width, node.scale, scale_width(node.scale));
    }
}

void Picture::mark_no_leaf(int row, int column, int height, int width) {
    for (int i = 0; i < height; ++i)
        std::memset(&leaf_scales_[place(row + i, column)], kOutside, width);
}

void Picture::take(const Fragment& fragment, const uint8_t* samples) {
    const int height = std::min(kFragmentSize, padded_height - fragment.row);
    const int width = std::min(kFragmentSize, padded_width - fragment.column);
    for (int i = 0; i < height; ++i) {
        const size_t first = place(fragment.row + i, fragment.column);
        std::copy_n(samples + first, width, &samples_[first]);
        std::copy_n(samples + first, width, &coded_[i * kFragmentSize]);
    }
}

void Picture::copy_samples(Plane plane, uint8_t* out) const {
    for (int row = 0; row < plane.height; ++row)
        std::copy_n(&samples_[place(row, 0)], plane.width,
                    out + size_t(row) * plane.width);
}

std::array<int64_t, kScales> Picture::dictionary_sizes() const {
    std::array<int64_t, kScales> sizes{};
    for (int scale = 0; scale < kScales; ++scale)
        if (dictionaries[scale]) sizes[scale] = dictionaries[scale]->size();
    return sizes;
}

}  // namespace mmp
