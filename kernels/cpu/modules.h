// The parts of the Python module mmpcodec._cpu, each in a file of its own.
#pragma once

#include <nanobind/nanobind.h>

#include "progress.h"

namespace mmp {

// Also looks for signals, so that Ctrl-C works while the GIL is released.
Progress progress_from(const nanobind::object& callback);

void register_blocks(nanobind::module_& module);
void register_knapsack(nanobind::module_& module);
void register_max_sum(nanobind::module_& module);
void register_postfilter(nanobind::module_& module);
void register_selection(nanobind::module_& module);
void register_rank_filter(nanobind::module_& module);
void register_subset_sum(nanobind::module_& module);

}  // namespace mmp
