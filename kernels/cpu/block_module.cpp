// Pictures by predicted blocks, for the Python module.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "block_codec.h"
#include "modules.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace mmp;

using Nodes = nb::ndarray<const uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Levels = nb::ndarray<const int16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Samples = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ToolsTuple = std::tuple<int, bool, int, int>;

BlockTools tools_from(const ToolsTuple& t) {
    const int fragment_size = std::get<0>(t);
    return {31 - __builtin_clz(fragment_size), std::get<1>(t), std::get<2>(t),
            std::get<3>(t)};
}

// Samples, rates by syntax element, units.
nb::tuple describe(const CodedBlocks& coded, Plane plane) {
    const BlockPicture& picture = coded.picture;
    std::vector<uint8_t> samples;
    for (int row = 0; row < plane.height; ++row)
        samples.insert(samples.end(), picture.at(row, 0), picture.at(row, 0) + plane.width);
    nb::list rates;
    for (const int64_t rate : coded.tally.rate) rates.append(rate);
    const auto* units = reinterpret_cast<const uint8_t*>(&picture.unit(0, 0));
    return nb::make_tuple(array_of(samples.data(), plane.height, plane.width), rates,
                          array_of(units, picture.height >> kUnitLog2, picture.width >> kUnitLog2,
                                   sizeof(Unit)));
}

nb::object encode(const Samples& samples, const ToolsTuple& tools, int64_t lambda_fixed,
                  int effort, int threads, const nb::object& progress) {
    const Plane plane{static_cast<int>(samples.shape(0)), static_cast<int>(samples.shape(1))};
    const BlockOptions options{lambda_fixed, BlockEffort(effort), threads};
    const Progress report = progress_from(progress);
    const auto [payload, coded] = [&] {
        nb::gil_scoped_release released;
        return encode_blocks(samples.data(), plane, tools_from(tools), options, report);
    }();
    return nb::make_tuple(nb::bytes(payload.data(), payload.size())) + describe(*coded, plane);
}

nb::tuple decode(const nb::bytes& payload, int height, int width, const ToolsTuple& tools,
                 const nb::object& progress) {
    const auto* data = static_cast<const uint8_t*>(payload.data());
    const size_t size = payload.size();
    const Plane plane{height, width};
    const Progress report = progress_from(progress);
    const auto coded = [&] {
        nb::gil_scoped_release released;
        return decode_blocks(data, size, plane, tools_from(tools), report);
    }();
    return describe(*coded, plane);
}

void code_plans(PlanCoder& coder, const Nodes& nodes, const Levels& levels) {
    nb::gil_scoped_release released;
    for (size_t i = 0; i < nodes.shape(0); ++i)
        coder.code(nodes.data() + i * nodes.shape(1), levels.data() + i * levels.shape(1));
}

// Payload, rates by syntax element, units.
nb::tuple finish_plans(PlanCoder& coder) {
    const std::vector<uint8_t> payload = coder.finish();
    const nb::tuple found = describe(coder.coded(), coder.plane());
    return nb::make_tuple(nb::bytes(payload.data(), payload.size()), found[1], found[2]);
}

}  // namespace

void mmp::register_blocks(nb::module_& module) {
    nb::class_<PlanCoder>(module, "PlanCoder")
        .def("__init__",
             [](PlanCoder* coder, int height, int width, const ToolsTuple& tools) {
                 new (coder) PlanCoder({height, width}, tools_from(tools));
             })
        .def("code", &code_plans, "nodes"_a, "levels"_a)
        .def("finish", &finish_plans);
    module.def("encode_blocks", &encode, "samples"_a, "tools"_a, "lambda_fixed"_a, "effort"_a,
               "threads"_a, "progress"_a.none());
    module.def("decode_blocks", &decode, "payload"_a, "height"_a, "width"_a, "tools"_a,
               "progress"_a.none());
}
