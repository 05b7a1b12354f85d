// Maximum sums in the Python module mmpcodec._cpu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>

#include "cpu/solvers/max_sum/interval.h"
#include "cpu/solvers/max_sum/max_sum.h"
#include "cpu/solvers/max_sum/maximal.h"
#include "cpu/bindings/bindings.h"
#include "cpu/bindings/gil.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace mmp {

namespace {

using Sequence = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Triple = std::tuple<int64_t, int64_t, int64_t>;
using Limits = std::tuple<int64_t, int64_t>;

Triple triple(const Interval& interval) { return {interval.sum, interval.start, interval.stop}; }

Lengths lengths(const Limits& limits) { return {std::get<0>(limits), std::get<1>(limits)}; }

// Uninitialised array of integers.
std::unique_ptr<int64_t[]> space(size_t count) {
    return std::unique_ptr<int64_t[]>(new int64_t[count]);
}

nb::object array_of(std::unique_ptr<int64_t[]> numbers, std::initializer_list<size_t> shape) {
    int64_t* data = numbers.release();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<int64_t*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, int64_t>(data, shape, owner));
}

Triple find_interval(const Sequence& values, const Limits& limits) {
    WithoutGil released;
    return triple(max_interval(values.data(), values.shape(0), lengths(limits)));
}

using Numbers = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Calls `work` with a pointer to the values in their own type.
template <class Work>
auto with_type(const Numbers& array, const Work& work) {
    const auto type = array.dtype();
    const void* data = array.data();
#define MMP_WORK(T) \
    if (type == nb::dtype<T>()) return work(static_cast<const T*>(data));
    MMP_EACH_VALUE(MMP_WORK)
    return work(static_cast<const int64_t*>(data));
}

Triple find_largest_interval(const Numbers& array, double scale) {
    WithoutGil released;
    return with_type(array, [&](const auto* values) {
        return triple(largest_interval(values, static_cast<int64_t>(array.shape(0)), scale));
    });
}

// Returns the best interval, or None if the sum of magnitudes may reach 2^63.
std::optional<Triple> find_fitting_interval(const Sequence& values) {
    WithoutGil released;
    Interval found;
    if (!largest_interval(values.data(), static_cast<int64_t>(values.shape(0)), found)) return {};
    return triple(found);
}

// Returns the total, then sum, start and stop of the best prefix, suffix and interval.
std::tuple<int64_t, Triple, Triple, Triple> find_summary(const Numbers& array, double scale) {
    WithoutGil released;
    const Summary found = with_type(array, [&](const auto* values) {
        return interval_summary(values, static_cast<int64_t>(array.shape(0)), scale);
    });
    return {found.total, triple(found.prefix), triple(found.suffix), triple(found.best)};
}

double find_largest_magnitude(const Numbers& values) {
    WithoutGil released;
    const int64_t count = static_cast<int64_t>(values.shape(0));
    if (values.dtype() == nb::dtype<float>())
        return largest_magnitude(static_cast<const float*>(values.data()), count);
    return largest_magnitude(static_cast<const double*>(values.data()), count);
}

nb::tuple take_census(const Sequence& values) {
    const IntervalCensus census = [&] {
        WithoutGil released;
        return interval_census(values.data(), values.shape(0));
    }();
    return nb::make_tuple(census.sum, census.intervals, census.disjoint, triple(census.longest),
                          triple(census.shortest));
}

nb::object find_sums_through(const Sequence& values) {
    const size_t count = values.shape(0);
    auto sums = space(count);
    {
        WithoutGil released;
        sums_through(values.data(), static_cast<int64_t>(count), sums.get());
    }
    return array_of(std::move(sums), {count});
}

// Returns a (3, N) array: starts, stops and sums of the maximal intervals.
nb::object find_maximal(const Numbers& array, double scale, int64_t piece, int threads) {
    Intervals found = [&] {
        WithoutGil released;
        ThreadTeam team(threads);
        return with_type(array, [&](const auto* values) {
            const int64_t count = static_cast<int64_t>(array.shape(0));
            return maximal_intervals(values, count, scale, piece, team);
        });
    }();
    return array_of(std::move(found.numbers), {3, static_cast<size_t>(found.count)});
}

// Calls `work` with a thread team and with the GIL released; returns None after the time limit.
template <class Work>
auto in_time(double seconds, int threads, const Work& work)
    -> std::optional<decltype(work(std::declval<ThreadTeam&>()))> {
    try {
        WithoutGil released;
        ThreadTeam team(threads, deadline_in(seconds));
        return work(team);
    } catch (const OutOfTime&) {
        return {};
    }
}

using StripTuple = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>;

std::optional<StripTuple> find_rectangle(const Matrix& values, const Limits& heights,
                                         const Limits& widths, bool transposed, double seconds,
                                         int threads) {
    return in_time(seconds, threads, [&](ThreadTeam& team) -> StripTuple {
        const Strip s = max_rectangle(values.data(), values.shape(0), values.shape(1),
                                      lengths(heights), lengths(widths), transposed, team);
        return {s.sum, s.first, s.last, s.start, s.stop};
    });
}

using Volume = nb::ndarray<const int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Sum, starts and stops; one start and stop per axis of the array.
using BoxTuple = std::tuple<int64_t, std::array<int64_t, 3>, std::array<int64_t, 3>>;

BoxTuple box_tuple(const Box& box) { return {box.sum, box.starts, box.stops}; }

std::array<int64_t, 3> sizes_of(const Volume& values) {
    const auto size = [&](int axis) { return static_cast<int64_t>(values.shape(axis)); };
    return {size(0), size(1), size(2)};
}

std::optional<BoxTuple> find_box(const Volume& values, const std::array<int, 3>& axes,
                                 const std::array<Limits, 3>& limits, double seconds,
                                 int threads) {
    const auto [planes, rows, columns] = limits;
    const std::array<Lengths, 3> sides{lengths(planes), lengths(rows), lengths(columns)};
    return in_time(seconds, threads, [&](ThreadTeam& team) {
        return box_tuple(max_box(values.data(), sizes_of(values), axes, sides, team));
    });
}

using CensusTuple = std::tuple<int64_t, int64_t, BoxTuple, BoxTuple>;

// Returns the largest sum, the number of boxes with this sum, the largest and the smallest of them.
std::optional<CensusTuple> take_box_census(const Volume& values, const std::array<int, 3>& axes,
                                           double seconds, int threads) {
    return in_time(seconds, threads, [&](ThreadTeam& team) -> CensusTuple {
        const BoxCensus found = box_census(values.data(), sizes_of(values), axes, team);
        return {found.sum, found.boxes, box_tuple(found.largest), box_tuple(found.smallest)};
    });
}

nb::object find_strip_maxima(const Matrix& values, double seconds, int threads) {
    const int64_t rows = values.shape(0);
    const size_t count = static_cast<size_t>(rows * (rows + 1) / 2);
    auto maxima = space(count);
    const auto done = in_time(seconds, threads, [&](ThreadTeam& team) {
        strip_maxima(values.data(), rows, values.shape(1), maxima.get(), team);
        return true;
    });
    return done ? array_of(std::move(maxima), {count}) : nb::none();
}

}  // namespace

void register_max_sum(nb::module_& module) {
    module.def("max_interval", &find_interval, "values"_a, "lengths"_a);
    module.def("largest_interval", &find_largest_interval, "values"_a, "scale"_a);
    module.def("fitting_interval", &find_fitting_interval, "values"_a);
    module.def("interval_summary", &find_summary, "values"_a, "scale"_a);
    module.def("largest_magnitude", &find_largest_magnitude, "values"_a);
    module.def("interval_census", &take_census, "values"_a);
    module.def("sums_through", &find_sums_through, "values"_a);
    module.def("maximal_intervals", &find_maximal, "values"_a, "scale"_a, "piece"_a, "threads"_a);
    module.def("max_rectangle", &find_rectangle, "values"_a, "heights"_a, "widths"_a,
               "transposed"_a, "seconds"_a, "threads"_a);
    module.def("max_box", &find_box, "values"_a, "axes"_a, "limits"_a, "seconds"_a,
               "threads"_a);
    module.def("box_census", &take_box_census, "values"_a, "axes"_a, "seconds"_a, "threads"_a);
    module.def("strip_maxima", &find_strip_maxima, "values"_a, "seconds"_a, "threads"_a);
}

}  // namespace mmp
