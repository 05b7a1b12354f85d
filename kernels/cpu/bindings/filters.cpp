// The fixed filters, the post filter, the cross-component filter and the border filter in the Python
// module mmpcodec._cpu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <vector>

#include "cpu/bindings/bindings.h"
#include "cpu/bindings/gil.h"
#include "cpu/filters/border.h"
#include "cpu/filters/cross_component.h"
#include "cpu/filters/fixed.h"
#include "cpu/filters/post.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace mmp {

namespace {

template <class T>
using Plane = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const int16_t, nb::shape<kFilterClasses, kFilterTaps>, nb::c_contig,
                          nb::device::cpu>;
using Gram = nb::ndarray<int64_t, nb::shape<kFilterClasses, kGramSize, kGramSize>, nb::c_contig,
                         nb::device::cpu>;
using Errors = nb::ndarray<int64_t, nb::shape<kFilterClasses>, nb::c_contig, nb::device::cpu>;
using Scales = std::array<int, kBankActivities>;
using ErrorsOfScales = nb::ndarray<int64_t, nb::shape<-1, kBankActivities, kBankScales>,
                                   nb::c_contig, nb::device::cpu>;
using Rows = std::tuple<int64_t, int64_t>;
// Size of a fragment, index of each fragment's step in the list of steps, and this list.
using Steps = std::tuple<int64_t, Plane<const uint8_t>, std::vector<int>>;

RowRange range_of(const Rows& rows) { return {std::get<0>(rows), std::get<1>(rows)}; }

PlaneSteps steps_of(const Steps& steps) {
    const auto& [size, numbers, distinct] = steps;
    return {size, static_cast<int64_t>(numbers.shape(1)), numbers.data(), distinct};
}

template <class Sample>
FilterPicture<Sample> picture_of(const Plane<const Sample>& samples, int depth) {
    return {samples.data(), static_cast<int64_t>(samples.shape(0)),
            static_cast<int64_t>(samples.shape(1)), Depth<Sample>(depth)};
}

template <class Sample>
void filter(const Plane<const Sample>& samples, int depth, const Table& table, const Rows& rows,
            const Plane<Sample>& out) {
    WithoutGil released;
    post_filter(picture_of<Sample>(samples, depth),
                *reinterpret_cast<const FilterTable*>(table.data()), range_of(rows),
                out.data());
}

template <class Sample>
void gram(const Plane<const Sample>& source, const Plane<const Sample>& samples, int depth,
          const Rows& rows, const Gram& out) {
    WithoutGil released;
    add_filter_gram(source.data(), picture_of<Sample>(samples, depth), range_of(rows),
                    *reinterpret_cast<FilterGram*>(out.data()));
}

template <class Sample>
void errors(const Plane<const Sample>& source, const Plane<const Sample>& samples, int depth,
            const Plane<const Sample>& shown, const Rows& rows, const Errors& out) {
    WithoutGil released;
    add_filter_errors(source.data(), picture_of<Sample>(samples, depth), shown.data(),
                      range_of(rows), *reinterpret_cast<FilterErrors*>(out.data()));
}

template <class Sample>
void bank(const Plane<const Sample>& samples, int depth, const Steps& steps, const Scales& scales,
          const Rows& rows, const Plane<Sample>& out) {
    WithoutGil released;
    fixed_filters(picture_of<Sample>(samples, depth), steps_of(steps), scales, range_of(rows),
                out.data());
}

template <class Sample>
void bank_errors(const Plane<const Sample>& source, const Plane<const Sample>& samples, int depth,
                 const Steps& steps, const Rows& rows, const ErrorsOfScales& out) {
    WithoutGil released;
    add_bank_errors(source.data(), picture_of<Sample>(samples, depth), steps_of(steps),
                    range_of(rows), reinterpret_cast<BankErrors*>(out.data()));
}

using PlaneWeights =
    nb::ndarray<const int16_t, nb::shape<-1, kPlaneTaps>, nb::c_contig, nb::device::cpu>;
using PlanesGram = nb::ndarray<int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Sample>
FilterPlanes<Sample> planes_of(const std::vector<Plane<const Sample>>& planes) {
    FilterPlanes<Sample> found{{}, static_cast<int>(planes.size())};
    for (int i = 0; i < found.count; ++i) found.samples[i] = planes[i].data();
    return found;
}

template <class Sample>
void from_planes(const Plane<const Sample>& samples, int depth,
                 const std::vector<Plane<const Sample>>& planes, const PlaneWeights& weights,
                 const Rows& rows, const Plane<Sample>& out) {
    const auto read = planes_of(planes);
    WithoutGil released;
    cross_component_filter(picture_of<Sample>(samples, depth), read, weights.data(), range_of(rows),
                  out.data());
}

template <class Sample>
void planes_gram(const Plane<const Sample>& source, const Plane<const Sample>& samples, int depth,
                 const std::vector<Plane<const Sample>>& planes, const Rows& rows,
                 const PlanesGram& out) {
    const auto read = planes_of(planes);
    WithoutGil released;
    add_planes_gram(source.data(), picture_of<Sample>(samples, depth), read,
                    range_of(rows), out.data());
}

template <class Sample>
using Pixels = nb::ndarray<Sample, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <class Sample>
void borders(const Pixels<Sample>& pixels, int colours, int step, int depth, int64_t size,
             const std::tuple<int64_t, int64_t>& starts,
             const std::optional<Plane<const bool>>& fixed, int first) {
    const BorderPicture<Sample> picture{
        pixels.data(),
        static_cast<int64_t>(pixels.shape(0)),
        static_cast<int64_t>(pixels.shape(1)),
        static_cast<int>(pixels.shape(2)),
        colours,
        fixed ? reinterpret_cast<const uint8_t*>(fixed->data()) : nullptr};
    WithoutGil released;
    border_filter(picture, {size, std::get<0>(starts), std::get<1>(starts)}, step, depth, first);
}

template <class Sample>
void register_for(nb::module_& module) {
    module.def("post_filter", &filter<Sample>, "samples"_a, "depth"_a, "table"_a, "rows"_a,
               "out"_a);
    module.def("add_filter_gram", &gram<Sample>, "source"_a, "samples"_a, "depth"_a, "rows"_a,
               "gram"_a);
    module.def("add_filter_errors", &errors<Sample>, "source"_a, "samples"_a, "depth"_a, "shown"_a,
               "rows"_a, "errors"_a);
    module.def("fixed_filters", &bank<Sample>, "samples"_a, "depth"_a, "steps"_a, "scales"_a, "rows"_a,
               "out"_a);
    module.def("add_bank_errors", &bank_errors<Sample>, "source"_a, "samples"_a, "depth"_a,
               "steps"_a, "rows"_a, "errors"_a);
    module.def("cross_component_filter", &from_planes<Sample>, "samples"_a, "depth"_a, "planes"_a,
               "weights"_a, "rows"_a, "out"_a);
    module.def("add_planes_gram", &planes_gram<Sample>, "source"_a, "samples"_a, "depth"_a,
               "planes"_a, "rows"_a, "gram"_a);
    module.def("border_filter", &borders<Sample>, "pixels"_a, "colours"_a, "step"_a, "depth"_a,
               "size"_a, "starts"_a, "fixed"_a.none(), "first"_a);
}

}  // namespace

void register_filters(nb::module_& module) {
    register_for<uint8_t>(module);
    register_for<uint16_t>(module);
}

}  // namespace mmp
