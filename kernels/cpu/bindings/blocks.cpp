// Predicted blocks in the Python module mmpcodec._cpu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "cpu/blocks/codec.h"
#include "cpu/blocks/leaves.h"
#include "cpu/blocks/search/seen_errors.h"
#include "shared/blocks/models.h"
#include "cpu/bindings/bindings.h"
#include "cpu/bindings/buffers.h"
#include "cpu/bindings/gil.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace mmp;

using Nodes = nb::ndarray<const uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Levels = nb::ndarray<const int16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class Sample>
using Samples = nb::ndarray<const Sample, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class Sample>
using Earlier = std::vector<Samples<Sample>>;

// Returns pointers to the earlier planes that the tools require; each must have the size of
// `plane`.
template <class Sample>
EarlierSamples<Sample> samples_of(const Earlier<Sample>& planes, Plane plane,
                                  const BlockTools& tools) {
    if (int(planes.size()) != tools.cross_component)
        throw std::invalid_argument("other planes than the tool earlier planes names");
    EarlierSamples<Sample> found;
    for (const Samples<Sample>& each : planes) {
        if (int(each.shape(0)) != plane.height || int(each.shape(1)) != plane.width)
            throw std::invalid_argument("an earlier plane of another size");
        found.push_back(each.data());
    }
    return found;
}

// Returns the tools of the trees among predicted blocks, or nothing without trees.
std::optional<Tools> tree_tools_from(nb::handle source) {
    const nb::object trees = source.attr("trees");
    if (trees.is_none()) return std::nullopt;
    return tools_from(trees);
}

using Changes = nb::ndarray<const int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Lambdas = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Cells = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Fragments = std::tuple<Changes, Lambdas, std::optional<Cells>>;

void check_fragments(size_t rows, size_t columns, Plane plane, const BlockTools& tools) {
    const StepChanges wanted(plane.height, plane.width, tools.fragment_log2);
    if (int(rows) != wanted.rows() || int(columns) != wanted.columns())
        throw std::invalid_argument("a map of fragments of another size");
}

// Returns the step changes of the fragments in coding order.
std::vector<int8_t> changes_from(const Changes& changes, Plane plane, const BlockTools& tools) {
    check_fragments(changes.shape(0), changes.shape(1), plane, tools);
    const std::vector<int8_t> found(changes.data(), changes.data() + changes.size());
    if (!tools.delta_step &&
        std::any_of(found.begin(), found.end(), [](int8_t change) { return change != 0; }))
        throw std::invalid_argument("delta step without the tool of this name");
    return found;
}

// Copies the delta step and lambdas of the fragments, and the weights of cells, to `options`, if
// given.
void take_fragments(const std::optional<Fragments>& given, Plane plane, const BlockTools& tools,
                    BlockOptions& options) {
    if (!given) return;
    const auto& [changes, lambdas, cells] = *given;
    options.changes = changes_from(changes, plane, tools);
    check_fragments(lambdas.shape(0), lambdas.shape(1), plane, tools);
    options.lambdas.assign(lambdas.data(), lambdas.data() + lambdas.size());
    if (!cells) return;
    const auto across = [](int length) {
        return size_t(length + (1 << kCellLog2) - 1) >> kCellLog2;
    };
    if (cells->shape(0) != across(plane.height) || cells->shape(1) != across(plane.width))
        throw std::invalid_argument("a map of cells of another size");
    if (!tools.quantisation_matrix) return;
    options.cell_weights.values.assign(cells->data(), cells->data() + cells->size());
    options.cell_weights.columns = int(cells->shape(1));
}

BlockEffort effort_from(nb::handle source) {
#define MMP_READ_FIELD(name) int(nb::cast<int>(source.attr(#name))),
    return {MMP_BLOCK_EFFORT(MMP_READ_FIELD)};
#undef MMP_READ_FIELD
}

// Returns a tuple: samples, rates by syntax element, units, delta step, leaf scales and
// dictionary sizes of the trees, and rates of cells.
template <class Sample>
nb::tuple describe(const CodedBlocks<Sample>& coded, Plane plane) {
    const BlockPicture<Sample>& picture = coded.picture;
    std::vector<Sample> samples;
    for (int row = 0; row < plane.height; ++row)
        samples.insert(samples.end(), picture.at(row, 0), picture.at(row, 0) + plane.width);
    nb::list rates;
    nb::object leaf_scales = nb::none(), sizes = nb::none();
    for (int syntax = 0; syntax < kSyntaxElements; ++syntax)
        rates.append(coded.tally.rate[syntax] +
                     (coded.trees ? coded.trees->picture.models.tally.rate[syntax] : 0));
    if (coded.trees) {
        const Picture& trees = coded.trees->picture;
        leaf_scales = array_of(trees.leaf_scales(), picture.height, picture.width);
        nb::list of_scales;
        for (const int64_t size : trees.dictionary_sizes()) of_scales.append(size);
        sizes = of_scales;
    }
    const auto* units = reinterpret_cast<const uint8_t*>(&picture.unit(0, 0));
    return nb::make_tuple(array_of(samples.data(), plane.height, plane.width), rates,
                          array_of(units, picture.height >> kUnitLog2, picture.width >> kUnitLog2,
                                   sizeof(Unit)),
                          array_of(coded.changes.values().data(), coded.changes.rows(),
                                   coded.changes.columns()),
                          leaf_scales, sizes, array_of(coded.cells));
}

template <class Sample>
nb::object encode(const Samples<Sample>& samples, int depth, nb::handle given,
                  const Earlier<Sample>& earlier, int64_t lambda_fixed, const std::optional<Fragments>& fragments,
                  bool log2_rates, nb::handle effort, int threads, const std::string& simd,
                  const nb::object& progress) {
    const Plane plane{static_cast<int>(samples.shape(0)), static_cast<int>(samples.shape(1))};
    BlockOptions options{
        {lambda_fixed, log2_rates}, effort_from(effort), threads, kernel_named(simd)};
    const BlockTools tools = block_tools_from(given);
    take_fragments(fragments, plane, tools, options);
    const std::optional<Tools> tree_tools = tree_tools_from(given);
    const Progress report = progress_from(progress);
    const auto [payload, coded] = [&] {
        WithoutGil released;
        return encode_blocks(samples.data(), plane, Depth<Sample>(depth), tools, tree_tools,
                             samples_of(earlier, plane, tools), options, report);
    }();
    return nb::make_tuple(nb::bytes(payload.data(), payload.size())) + describe(*coded, plane);
}

template <class Sample>
nb::tuple decoded(const nb::bytes& payload, Plane plane, Depth<Sample> depth,
                  nb::handle given, const nb::object& earlier, int threads, const nb::object& progress,
                  bool traced) {
    const auto* data = static_cast<const uint8_t*>(payload.data());
    const size_t size = payload.size();
    const BlockTools tools = block_tools_from(given);
    const std::optional<Tools> tree_tools = tree_tools_from(given);
    const Progress report = progress_from(progress);
    const auto before = nb::cast<Earlier<Sample>>(earlier);
    const auto coded = [&] {
        WithoutGil released;
        return decode_blocks(data, size, plane, depth, tools, tree_tools,
                             samples_of(before, plane, tools), threads, report, traced);
    }();
    return describe(*coded, plane);
}

nb::tuple decode(const nb::bytes& payload, int height, int width, int depth, nb::handle tools,
                 const nb::object& earlier, int threads, const nb::object& progress, bool traced) {
    const Plane plane{height, width};
    if (depth == 8)
        return decoded(payload, plane, Depth<uint8_t>(), tools, earlier, threads, progress, traced);
    return decoded(payload, plane, Depth<uint16_t>(depth), tools, earlier, threads, progress,
                             traced);
}

// Returns how often the first `most` bits of each binary model were 0 and 1, and the
// frequencies of the modes after the last block.
nb::tuple model_counts(const nb::bytes& payload, int height, int width, nb::handle given,
                       const Earlier<uint8_t>& earlier, int most) {
    const Plane plane{height, width};
    const BlockTools tools = block_tools_from(given);
    BitCounts counts{most, {}};
    const auto coded = decode_blocks(static_cast<const uint8_t*>(payload.data()), payload.size(),
                                     plane, Depth<uint8_t>(), tools, tree_tools_from(given),
                                     samples_of(earlier, plane, tools), 1,
                                     progress_from(nb::none()), true, &counts);
    return nb::make_tuple(array_of(&counts.of[0][0], kTrainedModels, 2),
                          array_of(&coded->models.modes[0][0], kSizes, kModes));
}

template <class Sample>
void register_encode(nb::module_& module) {
    module.def("encode_blocks", &encode<Sample>, "samples"_a, "depth"_a, "tools"_a,
               "earlier"_a, "lambda_fixed"_a, "fragments"_a.none(),
               "log2_rates"_a, "effort"_a, "threads"_a, "simd"_a, "progress"_a.none());
}

void code_plans(PlanCoder& coder, const Nodes& nodes, const Levels& levels) {
    WithoutGil released;
    for (size_t i = 0; i < nodes.shape(0); ++i)
        coder.code(nodes.data() + i * nodes.shape(1), levels.data() + i * levels.shape(1));
}

// Returns a tuple: payload, rates by syntax element, units, delta step, and rates of cells.
nb::tuple finish_plans(PlanCoder& coder) {
    const std::vector<uint8_t> payload = coder.finish();
    const nb::tuple found = describe(coder.coded(), coder.plane());
    return nb::make_tuple(nb::bytes(payload.data(), payload.size()), found[1], found[2], found[3],
                          found[6]);
}

// Payload, height, width and tools of a plane.
using PlaneToRead = std::tuple<nb::object, int, int, nb::object>;

LeavesOfPlanes leaves_of(const std::vector<PlaneToRead>& planes, int threads) {
    Buffers buffers;
    std::vector<LeafTask> tasks;
    for (const auto& [source, height, width, tools] : planes) {
        const Payload payload = held(source, buffers);
        tasks.push_back({payload.data, payload.size, {height, width}, block_tools_from(tools)});
    }
    WithoutGil released;
    return LeavesOfPlanes(tasks, threads);
}

using Joined = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void write_leaves(const LeavesOfPlanes& leaves, const Joined& to) {
    if (to.size() != leaves.total()) throw std::invalid_argument("an array of another size");
    WithoutGil released;
    leaves.write(to.data());
}

using SeenTable = nb::ndarray<const int32_t, nb::shape<kSeenSide, kSeenSide>, nb::c_contig,
                              nb::device::cpu>;
using SeenErrors = nb::ndarray<int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Sample>
void errors_seen(const Samples<Sample>& source, const Samples<Sample>& samples,
                 const SeenTable& basis, const SeenTable& weights,
                 const std::tuple<int64_t, int64_t>& rows, const SeenErrors& errors) {
    WithoutGil released;
    seen_errors(source.data(), samples.data(), int64_t(source.shape(0)), int64_t(source.shape(1)),
                *reinterpret_cast<const SeenBasis*>(basis.data()),
                *reinterpret_cast<const SeenWeights*>(weights.data()), std::get<0>(rows),
                std::get<1>(rows), errors.data());
}

}  // namespace

void mmp::register_blocks(nb::module_& module) {
    nb::class_<PlanCoder>(module, "PlanCoder")
        .def("__init__",
             [](PlanCoder* coder, int height, int width, nb::handle tools,
                const Changes& changes) {
                 const BlockTools own = block_tools_from(tools);
                 new (coder)
                     PlanCoder({height, width}, own, changes_from(changes, {height, width}, own));
             })
        .def("code", &code_plans, "nodes"_a, "levels"_a)
        .def("finish", &finish_plans);
    nb::class_<LeavesOfPlanes>(module, "LeavesOfPlanes")
        .def("__init__",
             [](LeavesOfPlanes* leaves, const std::vector<PlaneToRead>& planes, int threads) {
                 new (leaves) LeavesOfPlanes(leaves_of(planes, threads));
             })
        .def_prop_ro("good", [](const LeavesOfPlanes& leaves) {
            return array_of(leaves.good().data(), leaves.good().size());
        })
        .def_prop_ro("sizes", [](const LeavesOfPlanes& leaves) {
            return array_of(leaves.sizes().data(), leaves.good().size(), size_t(kLeafArrays));
        })
        .def("write", &write_leaves, "to"_a);
    register_encode<uint8_t>(module);
    register_encode<uint16_t>(module);
    module.def("seen_errors", &errors_seen<uint8_t>, "source"_a, "samples"_a, "basis"_a,
               "weights"_a, "rows"_a, "errors"_a);
    module.def("seen_errors", &errors_seen<uint16_t>, "source"_a, "samples"_a, "basis"_a,
               "weights"_a, "rows"_a, "errors"_a);
    module.def("block_counts", &model_counts, "payload"_a, "height"_a, "width"_a, "tools"_a,
               "earlier"_a, "most"_a);
    module.def("decode_blocks", &decode, "payload"_a, "height"_a, "width"_a, "depth"_a, "tools"_a,
               "earlier"_a, "threads"_a, "progress"_a.none(), "traced"_a = true);
}
