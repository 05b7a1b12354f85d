// Rank filters in the Python module mmpcodec._cpu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "cpu/bindings/bindings.h"
#include "cpu/bindings/gil.h"
#include "cpu/solvers/rank_filter/extremes.h"
#include "cpu/solvers/rank_filter/median_network.h"
#include "cpu/solvers/rank_filter/network.h"
#include "cpu/solvers/rank_filter/rank_filter.h"
#include "cpu/solvers/rank_filter/shape_filter.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace mmp {

namespace {

template <class T>
using Plane = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Line = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Index of the sample row for each row of the padded picture; the same for columns. See
// BorderedPicture.
using Border = std::tuple<Line, Line>;

template <class T>
BorderedPicture<T> bordered(const Plane<const T>& samples, const Border& border,
                            const std::tuple<int, int>& window, const Plane<T>& out) {
    return {samples.data(),
            nullptr,
            static_cast<int64_t>(samples.shape(1)),
            std::get<0>(border).data(),
            std::get<1>(border).data(),
            static_cast<int64_t>(out.shape(0)),
            static_cast<int64_t>(out.shape(1)),
            {std::get<0>(window), std::get<1>(window)}};
}

template <class T>
bool extremes(const Plane<const T>& samples, const Border& border,
              const std::tuple<int, int>& window, bool greatest, const Plane<T>& out,
              int threads) {
    WithoutGil released;
    ThreadTeam team(threads);
    return extreme_filter(bordered(samples, border, window, out), greatest, out.data(), team);
}

template <class T>
bool medians(const Plane<const T>& samples, const Border& border,
             const std::tuple<int, int>& window, const Plane<T>& out, int threads) {
    WithoutGil released;
    ThreadTeam team(threads);
    return median_filter(bordered(samples, border, window, out), out.data(), team);
}

using Steps = nb::ndarray<const int32_t, nb::shape<-1, 9>, nb::c_contig, nb::device::cpu>;
static_assert(sizeof(NetworkStep) == 9 * sizeof(int32_t));

// `lines` is the number of lines of the network; `answer` is the line with the result and the
// offset of its first value.
template <class T>
bool by_network(const Plane<const T>& samples, const Border& border,
                const std::tuple<int, int>& window, const Steps& steps, int lines,
                const std::tuple<int, int>& answer, const Plane<T>& out, int threads) {
    WithoutGil released;
    const Network network{reinterpret_cast<const NetworkStep*>(steps.data()),
                          static_cast<int64_t>(steps.shape(0)), lines, std::get<0>(answer),
                          std::get<1>(answer)};
    ThreadTeam team(threads);
    return network_filter(bordered(samples, border, window, out), network, out.data(), team);
}

template <class T>
bool filter(const Plane<const T>& samples, const std::optional<Plane<const uint8_t>>& valid,
            const Border& border, const std::tuple<int, int>& window, const Line& ranks,
            const Plane<T>& out, const std::optional<Plane<uint8_t>>& found, int threads) {
    WithoutGil released;
    auto picture = bordered(samples, border, window, out);
    picture.valid = valid ? valid->data() : nullptr;
    ThreadTeam team(threads);
    return rank_filter(picture, ranks.data(), out.data(), found ? found->data() : nullptr, team);
}

template <class T>
bool by_shape(const Plane<const T>& samples, const std::optional<Plane<const uint8_t>>& valid,
              const Border& border, const Plane<const uint8_t>& cells, const Line& ranks,
              const Plane<T>& out, const std::optional<Plane<uint8_t>>& found, int threads) {
    WithoutGil released;
    const std::tuple<int, int> window(cells.shape(0), cells.shape(1));
    auto picture = bordered(samples, border, window, out);
    picture.valid = valid ? valid->data() : nullptr;
    ThreadTeam team(threads);
    return shape_filter(picture, cells.data(), ranks.data(), out.data(),
                        found ? found->data() : nullptr, team);
}

template <class T>
void define(nb::module_& module) {
    module.def("extreme_filter", &extremes<T>, "samples"_a, "border"_a, "window"_a,
               "greatest"_a, "out"_a, "threads"_a);
    module.def("median_filter", &medians<T>, "samples"_a, "border"_a, "window"_a, "out"_a,
               "threads"_a);
    module.def("network_filter", &by_network<T>, "samples"_a, "border"_a, "window"_a, "steps"_a,
               "lines"_a, "answer"_a, "out"_a, "threads"_a);
    module.def("rank_filter", &filter<T>, "samples"_a, "valid"_a.none(), "border"_a, "window"_a,
               "ranks"_a, "out"_a, "found"_a.none(), "threads"_a);
    module.def("shape_filter", &by_shape<T>, "samples"_a, "valid"_a.none(), "border"_a, "cells"_a,
               "ranks"_a, "out"_a, "found"_a.none(), "threads"_a);
}

}  // namespace

void register_rank_filter(nb::module_& module) {
#define MMP_DEFINE(T) define<T>(module);
    MMP_EACH_SAMPLE(MMP_DEFINE)
}

}  // namespace mmp
