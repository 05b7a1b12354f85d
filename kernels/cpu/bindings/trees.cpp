// Trees in the Python module mmpcodec._cpu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "cpu/bindings/bindings.h"
#include "cpu/bindings/gil.h"
#include "cpu/trees/decoder.h"
#include "cpu/trees/encoder.h"
#include "cpu/trees/plan_coder.h"
#include "cpu/trees/rescale.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace mmp;

using Samples = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Returns a tuple: samples, rates by syntax element, leaf scales, dictionary sizes, and rates of
// cells.
nb::tuple describe(const Picture& picture, Plane plane) {
    std::vector<uint8_t> samples(size_t(plane.height) * plane.width);
    picture.copy_samples(plane, samples.data());
    nb::list rates, sizes;
    for (const int64_t rate : picture.models.tally.rate) rates.append(rate);
    for (const int64_t size : picture.dictionary_sizes()) sizes.append(size);
    return nb::make_tuple(array_of(samples.data(), plane.height, plane.width), rates,
                          array_of(picture.leaf_scales(), picture.padded_height,
                                   picture.padded_width),
                          sizes, array_of(picture.cells));
}

nb::object encode_plane(const Samples& samples, nb::handle given, int64_t lambda_fixed,
                        bool log2_rates, int threads, const std::string& simd,
                        const nb::object& progress) {
    const Plane plane{static_cast<int>(samples.shape(0)), static_cast<int>(samples.shape(1))};
    const SearchKernel* kernel = simd == "brute-force" ? nullptr : &kernel_named(simd);
    const Tools tools = tools_from(given);
    const EncoderOptions options{{lambda_fixed, log2_rates}, threads, kernel};
    const Progress report = progress_from(progress);
    const auto [payload, picture] = [&] {
        WithoutGil released;
        return encode(samples.data(), plane, tools, options, report);
    }();
    nb::bytes data(payload.data(), payload.size());
    return nb::make_tuple(data) + describe(*picture, plane);
}

nb::tuple decode_payload(const nb::bytes& payload, int height, int width, nb::handle given,
                         int threads, const nb::object& progress) {
    const auto* data = static_cast<const uint8_t*>(payload.data());
    const size_t size = payload.size();
    const Plane plane{height, width};
    const Tools tools = tools_from(given);
    const Progress report = progress_from(progress);
    const auto picture = [&] {
        WithoutGil released;
        return decode(data, size, plane, tools, threads, report);
    }();
    return describe(*picture, plane);
}

std::vector<std::string> simd_levels() {
    std::vector<std::string> levels;
    for (const SearchKernel& kernel : search_kernels())
        if (kernel.supported()) levels.push_back(kernel.name);
    return levels;
}

nb::object rescale_block(const Samples& block, int from, int to) {
    uint8_t padded[kFragmentArea + kBeyond], out[kFragmentArea + kBeyond];
    for (int row = 0; row < scale_height(from); ++row)
        std::copy_n(block.data() + row * scale_width(from), scale_width(from),
                    padded + row * kFragmentSize);
    Targets targets{};
    targets[scale_n(to)] = out;
    rescale(padded, from, scale_m(to), targets);
    return array_of(out, scale_height(to), scale_width(to));
}

// Returns, for each segment of one scale of a 16x16 fragment, the least cost and the element that
// has it.
nb::tuple search_scale(const Samples& fragment, int scale, const Samples& elements,
                       const nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig>& costs,
                       const std::string& simd) {
    const SearchKernel& kernel = kernel_named(simd);
    SearchIndex index(scale, kernel.layout);
    ClassCosts class_costs;
    class_costs.smallest = 0;
    for (size_t i = 0; i < elements.shape(0); ++i)
        index.put(static_cast<uint32_t>(i), elements.data() + i * elements.shape(1), 0,
                  costs.data()[i]);
    const int rows = 1 << scale_n(scale), columns = 1 << scale_m(scale);
    std::vector<int64_t> least, best;
    for (int k = 0; k < rows; ++k)
        for (int l = 0; l < columns; ++l) {
            Query query;
            index.prepare(fragment.data() + k * scale_height(scale) * kFragmentSize +
                              l * scale_width(scale),
                          kFragmentSize, query);
            query.start(INT64_MAX / 2);
            kernel.search(index, class_costs, query);
            least.push_back(query.cost());
            best.push_back(query.index);
        }
    return nb::make_tuple(array_of(least.data(), rows, columns),
                          array_of(best.data(), rows, columns));
}

template <class T, int Dimensions>
using Table = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

class TreeCoderObject {
public:
    TreeCoderObject(int height, int width, nb::handle tools)
        : coder_({height, width}, tools_from(tools)) {}

    // Codes F fragments with N nodes. Shapes: (F,), (N,), (F, 25), (25, room); see ChosenTrees.
    void code(const Table<uint32_t, 1>& node_counts, const Table<uint32_t, 1>& nodes,
              const Table<uint32_t, 2>& insertions, const Table<uint8_t, 2>& first_class) {
        WithoutGil released;
        coder_.code({node_counts.shape(0), node_counts.data(), nodes.data(),
                     insertions.data(), first_class.data(), first_class.shape(1)});
    }
    nb::list tally() const {
        nb::list rates;
        for (const int64_t rate : coder_.tally().rate) rates.append(rate);
        return rates;
    }
    nb::object cell_rates() const { return array_of(coder_.cells()); }
    nb::bytes finish() {
        const auto& payload = coder_.finish();
        return nb::bytes(payload.data(), payload.size());
    }

private:
    TreeCoder coder_;
};

}  // namespace

const SearchKernel& mmp::kernel_named(const std::string& name) {
    for (const SearchKernel& kernel : search_kernels())
        if (kernel.name == name && kernel.supported()) return kernel;
    throw nb::value_error(("SIMD level " + name + " cannot run here").c_str());
}

void mmp::register_trees(nb::module_& module) {
    module.def("encode", &encode_plane, "samples"_a, "tools"_a, "lambda_fixed"_a, "log2_rates"_a,
               "threads"_a, "simd"_a, "progress"_a.none());
    module.def("decode", &decode_payload, "payload"_a, "height"_a, "width"_a, "tools"_a,
               "threads"_a, "progress"_a.none());
    module.def("simd_levels", &simd_levels);
    module.def("rescale", &rescale_block, "block"_a, "from_scale"_a, "to_scale"_a);
    module.def("search_scale", &search_scale, "fragment"_a, "scale"_a, "elements"_a, "costs"_a,
               "simd"_a);
    nb::class_<TreeCoderObject>(module, "TreeCoder")
        .def(nb::init<int, int, nb::handle>(), "height"_a, "width"_a, "tools"_a)
        .def("code", &TreeCoderObject::code, "node_counts"_a, "nodes"_a, "insertions"_a,
             "first_class"_a)
        .def("tally", &TreeCoderObject::tally)
        .def("cell_rates", &TreeCoderObject::cell_rates)
        .def("finish", &TreeCoderObject::finish);
}
