#include "picture.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "../shared/rescale.h"

namespace mmp {

namespace {

int padded(int length) { return (length + kFragmentSize - 1) / kFragmentSize * kFragmentSize; }

uint8_t clip(int sample) { return static_cast<uint8_t>(std::clamp(sample, 0, 255)); }

using RowPass = void (*)(const uint8_t* block, int rows, uint8_t* out);
using ColumnPass = void (*)(const uint8_t* wide, uint8_t* out);

// Known sizes let the compiler unroll and vectorise the passes.
template <int From, int To>
void row_pass(const uint8_t* block, int rows, uint8_t* out) {
    resize_rows(block, kFragmentSize, rows, kFragmentLog2 - From, out, kFragmentLog2 - To);
}

template <int M, int From, int To>
void column_pass(const uint8_t* wide, uint8_t* out) {
    resize_columns(wide, kFragmentSize >> M, kFragmentLog2 - From, out, kFragmentLog2 - To);
}

template <size_t... I>
constexpr std::array<RowPass, sizeof...(I)> row_passes(std::index_sequence<I...>) {
    return {row_pass<I / kLevels, I % kLevels>...};
}

template <size_t... I>
constexpr std::array<ColumnPass, sizeof...(I)> column_passes(std::index_sequence<I...>) {
    return {column_pass<I / kScales, I / kLevels % kLevels, I % kLevels>...};
}

constexpr auto kRowPasses = row_passes(std::make_index_sequence<kScales>());
constexpr auto kColumnPasses = column_passes(std::make_index_sequence<kLevels * kScales>());

}  // namespace

void narrow_or_widen(const uint8_t* block, int rows, int from_m, uint8_t* out, int to_m) {
    kRowPasses[from_m * kLevels + to_m](block, rows, out);
}

void shorten_or_lengthen(const uint8_t* wide, int m, int from_n, uint8_t* out, int to_n) {
    kColumnPasses[m * kScales + from_n * kLevels + to_n](wide, out);
}

Picture::Picture(Plane plane, const Tools& the_tools)
    : tools(the_tools),
      padded_height(padded(plane.height)),
      padded_width(padded(plane.width)),
      models(tools),
      dictionaries(kScales),
      samples_(std::make_unique_for_overwrite<uint8_t[]>(place(padded_height, 0))),
      leaf_scales_(std::make_unique_for_overwrite<int8_t[]>(place(padded_height, 0))) {
    for (int scale = 0; scale < kScales; ++scale)
        if (scale_reachable(scale, tools.partition))
            dictionaries[scale] = std::make_unique<Dictionary>(scale, tools);
}

Fragment Picture::fragment(int row, int column) const {
    Fragment result{row, column, {}, {}};
    result.above.fill(kOutside);
    result.left.fill(kOutside);
    const int8_t* here = &leaf_scales_[place(row, column)];
    if (row) std::copy_n(here - padded_width, kFragmentSize, result.above.begin());
    if (column)
        for (int i = 0; i < kFragmentSize; ++i) result.left[i] = here[i * padded_width - 1];
    return result;
}

void Picture::rebuild(const Fragment& fragment, const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
        if (node.flag != kLeaf) continue;
        const uint8_t* element = dictionaries[node.scale]->element(node.index);
        const int height = scale_height(node.scale), width = scale_width(node.scale);
        for (int i = 0; i < height; ++i) {
            const int row = node.top() + i;
            std::copy_n(element + i * width, width, &coded_[row * kFragmentSize + node.left()]);
            std::memset(&leaf_scales_[place(fragment.row + row, fragment.column + node.left())],
                        node.scale, width);
        }
    }
    // The base profile predicts the middle level everywhere.
    constexpr int prediction = kMidLevel;
    for (int row = 0; row < kFragmentSize; ++row)
        for (int column = 0; column < kFragmentSize; ++column)
            samples_[place(fragment.row + row, fragment.column + column)] =
                clip(coded_[row * kFragmentSize + column] + prediction - kMidLevel);
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
