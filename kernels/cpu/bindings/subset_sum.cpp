// Subset sum in the Python module mmpcodec._cpu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "cpu/bindings/bindings.h"
#include "cpu/bindings/gil.h"
#include "cpu/solvers/subset_sum/subset_sum.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace mmp {

namespace {

using Weights = std::vector<int64_t>;
using Array = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Words = nb::ndarray<uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Weights copied(const Array& array) { return {array.data(), array.data() + array.size()}; }

// Runs work() with the GIL released. Returns the sum and the items of the subset, or None after the
// time limit.
template <class Work>
nb::object answered(const Work& work) {
    Subset found;
    try {
        WithoutGil released;
        found = work();
    } catch (const OutOfTime&) {
        return nb::none();
    }
    return nb::make_tuple(found.sum, found.items);
}

nb::object dense(const Array& array, int64_t target, int64_t limit, int64_t floor, bool items,
                 double seconds, int threads) {
    return answered([&] {
        ThreadTeam team(threads);
        return dense_subset(copied(array), target, limit, floor, items, deadline_in(seconds), team,
                            threads);
    });
}

// Returns false if the time limit has passed.
bool sums(const Array& array, int64_t limit, Words words, double seconds, int threads) try {
    WithoutGil released;
    ThreadTeam team(threads);
    subset_sums(copied(array), limit, words.data(), deadline_in(seconds), team, threads);
    return true;
} catch (const OutOfTime&) {
    return false;
}

nb::object meet(const Array& array, int64_t target, int64_t limit, double seconds, int threads) {
    return answered([&] {
        ThreadTeam team(threads);
        return meet_subset(copied(array), target, limit, deadline_in(seconds), team);
    });
}

nb::object balanced(const Array& array, int64_t capacity, bool items, int64_t most,
                    double seconds) {
    return answered([&] {
        return balanced_subset(copied(array), capacity, items, most, deadline_in(seconds));
    });
}

}  // namespace

void register_subset_sum(nb::module_& module) {
    module.def("dense_subset", dense, "weights"_a, "target"_a, "limit"_a, "floor"_a, "items"_a,
               "seconds"_a, "threads"_a);
    module.def("subset_sums", sums, "weights"_a, "limit"_a, "words"_a, "seconds"_a,
               "threads"_a);
    module.def("meet_subset", meet, "weights"_a, "target"_a, "limit"_a, "seconds"_a,
               "threads"_a);
    module.def("balanced_subset", balanced, "weights"_a, "capacity"_a, "items"_a,
               "most"_a, "seconds"_a);
}

}  // namespace mmp
