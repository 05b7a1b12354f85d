// Subset sum in the Python module mmpcodec._cpu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "cpu/bindings/bindings.h"
#include "cpu/solvers/subset_sum/subset_sum.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace mmp {

namespace {

using Weights = std::vector<int64_t>;
using Array = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Words = nb::ndarray<uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Weights copied(const Array& array) { return {array.data(), array.data() + array.size()}; }

// Runs work() with the GIL released and returns the sum and the items of its subset.
template <class Work>
nb::tuple answered(const Work& work) {
    Subset found;
    {
        nb::gil_scoped_release released;
        found = work();
    }
    return nb::make_tuple(found.sum, found.items);
}

nb::tuple dense(const Array& array, int64_t target, int64_t limit, int64_t floor, bool items,
                int threads) {
    return answered([&] {
        ThreadTeam team(threads);
        return dense_subset(copied(array), target, limit, floor, items, team, threads);
    });
}

void sums(const Array& array, int64_t limit, Words words, int threads) {
    nb::gil_scoped_release released;
    ThreadTeam team(threads);
    subset_sums(copied(array), limit, words.data(), team, threads);
}

nb::tuple meet(const Array& array, int64_t target, int64_t limit, int threads) {
    return answered([&] {
        ThreadTeam team(threads);
        return meet_subset(copied(array), target, limit, team);
    });
}

nb::tuple balanced(const Array& array, int64_t capacity, bool items, int64_t most) {
    return answered([&] { return balanced_subset(copied(array), capacity, items, most); });
}

}  // namespace

void register_subset_sum(nb::module_& module) {
    module.def("dense_subset", dense, "weights"_a, "target"_a, "limit"_a, "floor"_a, "items"_a,
               "threads"_a);
    module.def("subset_sums", sums, "weights"_a, "limit"_a, "words"_a, "threads"_a);
    module.def("meet_subset", meet, "weights"_a, "target"_a, "limit"_a, "threads"_a);
    module.def("balanced_subset", balanced, "weights"_a, "capacity"_a, "items"_a,
               "most"_a);
}

}  // namespace mmp
