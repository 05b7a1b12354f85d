// The parts of the Python module mmpcodec._cpu, each in a file of its own.
#pragma once

#include <nanobind/nanobind.h>

namespace mmp {

void register_knapsack(nanobind::module_& module);
void register_max_sum(nanobind::module_& module);
void register_postfilter(nanobind::module_& module);
void register_selection(nanobind::module_& module);
void register_rank_filter(nanobind::module_& module);
void register_subset_sum(nanobind::module_& module);

}  // namespace mmp
