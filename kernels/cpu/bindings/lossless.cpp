// Lossless samples in the Python module mmpcodec._cpu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "cpu/lossless/codec.h"
#include "cpu/lossless/source_colours/search.h"
#include "cpu/lossless/number_rates.h"
#include "cpu/bindings/bindings.h"
#include "cpu/bindings/gil.h"
#include "cpu/runtime/zeroed.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace mmp {

namespace {

using Samples = nb::ndarray<const uint16_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Shape = std::tuple<int, int, int>;

nb::tuple tuple_of(const LosslessRates& rates) { return nb::make_tuple(rates.map, rates.residual); }

nb::object array_from(Zeroed<uint16_t> samples, const LosslessShape& shape) {
    uint16_t* owned = samples.release();
    nb::capsule owner(owned, [](void* memory) noexcept { free(memory); });
    const size_t sides[3] = {size_t(shape.planes), size_t(shape.height), size_t(shape.width)};
    return nb::cast(nb::ndarray<nb::numpy, uint16_t>(owned, 3, sides, owner));
}

LosslessTools lossless_tools_from(nb::handle source, LosslessChain* chain) {
    const auto number = [&](const char* name) { return nb::cast<int>(source.attr(name)); };
    return {number("lossless_form"), number("max_error"), chain};
}

// Returns the payload, the decoded samples, the rates of the maps and of the residuals, and those
// of cells.
nb::tuple encode(const Samples& samples, int depth, const nb::object& tools, int threads,
                 const nb::object& progress, LosslessChain* chain, const SourcePlanes* source) {
    const LosslessShape shape{int(samples.shape(0)), int(samples.shape(1)), int(samples.shape(2)),
                           depth};
    const LosslessTools own = lossless_tools_from(tools, chain);
    const Progress report = progress_from(progress);
    LosslessRates rates;
    auto decoded = zeroed<uint16_t>(size_t(shape.planes) * shape.plane_size());
    const std::vector<uint8_t> payload = [&] {
        WithoutGil released;
        return encode_lossless(samples.data(), shape, own, source, threads, decoded.get(), report,
                               rates);
    }();
    return nb::make_tuple(nb::bytes(payload.data(), payload.size()),
                          array_from(std::move(decoded), shape), tuple_of(rates),
                          array_of(*rates.cells));
}

// Returns the samples, the rates of the maps and of the residuals, and those of cells.
nb::tuple decode(const nb::bytes& payload, const Shape& size, int depth, const nb::object& tools,
                 int threads, const nb::object& progress, LosslessChain* chain) {
    const auto [planes, height, width] = size;
    const LosslessShape shape{planes, height, width, depth};
    const LosslessTools own = lossless_tools_from(tools, chain);
    const auto* data = static_cast<const uint8_t*>(payload.data());
    const size_t bytes = payload.size();
    const Progress report = progress_from(progress);
    LosslessRates rates;
    auto samples = zeroed<uint16_t>(size_t(planes) * shape.plane_size());
    {
        WithoutGil released;
        decode_lossless(data, bytes, shape, own, threads, samples.get(), report, rates);
    }
    return nb::make_tuple(array_from(std::move(samples), shape), tuple_of(rates),
                          array_of(*rates.cells));
}

// Returns the luma and chroma that planes of green, red and blue were made from, or None.
nb::object find_planes(const Samples& samples, int threads, const nb::object& progress) {
    const Progress report = progress_from(progress);
    std::optional<SourcePlanes> found;
    {
        WithoutGil released;
        ThreadTeam team(threads);
        found = find_source_planes(samples.data(), int(samples.shape(1)), int(samples.shape(2)),
                                   team, report);
    }
    return found ? nb::cast(std::move(*found)) : nb::none();
}

nb::object rates_of_numbers(const Numbers& numbers, int count) {
    const int height = int(numbers.shape(0)), width = int(numbers.shape(1));
    for (size_t i = 0; i < numbers.size(); ++i)
        if (numbers.data()[i] >= count) throw nb::value_error("number beyond the count");
    const std::vector<int64_t> rates = [&] {
        WithoutGil released;
        return number_rates(numbers.data(), height, width, count);
    }();
    return array_of(rates.data(), cells_along(height), cells_along(width));
}

nb::tuple chroma_of(const SourcePlanes& source) {
    const size_t columns = source.columns(), rows = source.chroma[0].size() / columns;
    return nb::make_tuple(array_of(source.chroma[0].data(), rows, columns),
                          array_of(source.chroma[1].data(), rows, columns));
}

// Returns places and differences, in two rows, of both planes.
nb::tuple corrections_of(const SourcePlanes& source) {
    const auto one = [](const std::vector<Correction>& corrections) {
        std::vector<int64_t> numbers;
        for (const Correction& correction : corrections) numbers.push_back(correction.place);
        for (const Correction& correction : corrections) numbers.push_back(correction.difference);
        return array_of(numbers.data(), 2, corrections.size());
    };
    return nb::make_tuple(one(source.corrections[0]), one(source.corrections[1]));
}

void register_source_planes(nb::module_& module) {
    const auto both = [](auto of) {
        return [of](const SourcePlanes& source) {
            return nb::make_tuple((source.colours.*of)[0], (source.colours.*of)[1]);
        };
    };
    nb::class_<SourcePlanes>(module, "SourcePlanes")
        .def_prop_ro("kind", [](const SourcePlanes& source) { return int(source.colours.kind); })
        .def_prop_ro("halved", both(&SourceColours::halved))
        .def_prop_ro("phase", both(&SourceColours::phase))
        .def_prop_ro("luma",
                     [](const SourcePlanes& source) {
                         const size_t size = source.luma.size();
                         return array_of(source.luma.data(), size / source.width, source.width);
                     })
        .def_prop_ro("chroma", &chroma_of)
        .def_prop_ro("corrections", &corrections_of);
    module.def("find_source_planes", &find_planes, "samples"_a, "threads"_a,
               "progress"_a.none() = nb::none());
}

}  // namespace

void register_lossless(nb::module_& module) {
    nb::class_<LosslessChain>(module, "LosslessChain").def(
        nb::new_([](int most_width, int64_t most_rows) {
            return new LosslessChain{most_width, most_rows};
        }),
        "most_width"_a, "most_rows"_a);
    register_source_planes(module);
    module.def("encode_lossless", &encode, "samples"_a, "depth"_a, "tools"_a, "threads"_a,
               "progress"_a.none(), "chain"_a.none() = nb::none(),
               "source"_a.none() = nb::none());
    module.def("number_rates", &rates_of_numbers, "numbers"_a, "count"_a);
    module.def("decode_lossless", &decode, "payload"_a, "shape"_a, "depth"_a, "tools"_a,
               "threads"_a, "progress"_a.none(), "chain"_a.none() = nb::none());
}

}  // namespace mmp
