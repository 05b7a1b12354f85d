// Rank filters in the Python module mmpcodec._cpu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "cpu/bindings/bindings.h"
#include "cpu/solvers/rank_filter/rank_filter.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace mmp {

namespace {

template <class T>
using Plane = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Line = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The row of `samples` for each row under the windows; the same for columns. See BorderedPicture.
using Border = std::tuple<Line, Line>;

template <class T>
void filter(const Plane<const T>& samples, const std::optional<Plane<const uint8_t>>& valid,
            const Border& border, const std::tuple<int, int>& window, const Line& ranks,
            const Plane<T>& out, const std::optional<Plane<uint8_t>>& found, int threads) {
    nb::gil_scoped_release released;
    const BorderedPicture<T> picture{samples.data(),
                                     valid ? valid->data() : nullptr,
                                     static_cast<int64_t>(samples.shape(1)),
                                     std::get<0>(border).data(),
                                     std::get<1>(border).data(),
                                     static_cast<int64_t>(out.shape(0)),
                                     static_cast<int64_t>(out.shape(1)),
                                     {std::get<0>(window), std::get<1>(window)}};
    ThreadTeam team(threads);
    rank_filter(picture, ranks.data(), out.data(), found ? found->data() : nullptr, team);
}

template <class T>
void define(nb::module_& module) {
    module.def("rank_filter", &filter<T>, "samples"_a, "valid"_a.none(), "border"_a, "window"_a,
               "ranks"_a, "out"_a, "found"_a.none(), "threads"_a);
}

}  // namespace

void register_rank_filter(nb::module_& module) {
    define<uint8_t>(module);
    define<uint16_t>(module);
    define<uint32_t>(module);
}

}  // namespace mmp
