// Declarations that the files of the Python module mmpcodec._cpu share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <string>

#include "cpu/entropy/rates.h"
#include "cpu/runtime/progress.h"
#include "cpu/trees/search/index.h"
#include "shared/tools.h"

namespace mmp {

// Read each tool from the Python attribute of the same name. The caller holds the GIL.
#define MMP_READ_TOOL(name, low, high) nanobind::cast<int32_t>(source.attr(#name)),
inline Tools tools_from(nanobind::handle source) { return {MMP_TREE_TOOLS(MMP_READ_TOOL)}; }
inline BlockTools block_tools_from(nanobind::handle source) {
    const auto size = nanobind::cast<uint32_t>(source.attr("fragment_size"));
    return {MMP_BLOCK_TOOLS(MMP_READ_TOOL) 31 - __builtin_clz(size)};
}

// Returns the search kernel of a SIMD level. Throws if this processor does not support it.
const SearchKernel& kernel_named(const std::string& name);

// Returns a NumPy array that holds a copy of the data.
template <class T, class... Sizes>
nanobind::object array_of(const T* data, Sizes... sizes) {
    const size_t count = (size_t(sizes) * ...);
    T* copy = new T[count];
    std::copy_n(data, count, copy);
    nanobind::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nanobind::cast(
        nanobind::ndarray<nanobind::numpy, T>(copy, {size_t(sizes)...}, owner));
}

inline nanobind::object array_of(const CellRates& cells) {
    return array_of(cells.rates().data(), cells.rows(), cells.columns());
}

// Returns a Progress that calls the Python callback and handles Ctrl-C while the GIL is released.
Progress progress_from(const nanobind::object& callback);

void register_blocks(nanobind::module_& module);
void register_entropy(nanobind::module_& module);
void register_lossless(nanobind::module_& module);
void register_jpeg(nanobind::module_& module);
void register_knapsack(nanobind::module_& module);
void register_max_sum(nanobind::module_& module);
void register_filters(nanobind::module_& module);
void register_selection(nanobind::module_& module);
void register_rank_filter(nanobind::module_& module);
void register_subset_sum(nanobind::module_& module);
void register_tiles(nanobind::module_& module);
void register_trees(nanobind::module_& module);

}  // namespace mmp
