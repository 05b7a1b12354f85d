// Order statistics in the Python module mmpcodec._cpu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <string.h>

#include "cpu/bindings/bindings.h"
#include "cpu/bindings/gil.h"
#include "cpu/solvers/selection/selection.h"
#include "cpu/solvers/selection/split.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace mmp {

namespace {

using Any = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Written = nb::ndarray<nb::c_contig, nb::device::cpu>;
using Keys = nb::ndarray<uint64_t, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<int64_t, nb::c_contig, nb::device::cpu>;
using RankRows = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Values values_of(const Any& array) {
    const auto code = static_cast<nb::dlpack::dtype_code>(array.dtype().code);
    const Kind kind = code == nb::dlpack::dtype_code::Float ? Kind::kFloat
                      : code == nb::dlpack::dtype_code::Int ? Kind::kSigned
                                                            : Kind::kUnsigned;
    return {array.data(), static_cast<int64_t>(array.size()), kind, array.dtype().bits / 8};
}

int64_t select_array(const Any& array, const std::vector<int64_t>& ranks, Keys keys, int threads) {
    WithoutGil released;
    ThreadTeam team(threads);
    return select(values_of(array), ranks, keys.data(), team);
}

// Returns the bits of NumPy's quiet NaN of 2, 4 or 8 bytes.
uint64_t quiet_nan(int bytes) {
    return bytes == 8 ? 0x7FF8ull << 48 : bytes == 4 ? 0x7FC0ull << 16 : 0x7E00ull;
}

// Writes the value of a rank, from 0, to `out`, one number of the array's type; NaN if any value is
// NaN. Single-threaded, because it is for short arrays.
void kth_value(const Any& array, int64_t rank, Written out) {
    const Values values = values_of(array);
    uint64_t key;
    ThreadTeam alone(1);
    const int64_t nans = select(values, {rank}, &key, alone);
    const uint64_t top = uint64_t{1} << (8 * values.bytes - 1), all = top | (top - 1);
    uint64_t bits = key;
    if (values.kind == Kind::kSigned) bits = key ^ top;
    if (values.kind == Kind::kFloat) bits = key ^ (key & top ? top : all);
    if (values.kind == Kind::kFloat && nans) bits = quiet_nan(values.bytes);
    memcpy(out.data(), &bits, values.bytes);  // little-endian: the lowest bytes come first
}

// `keys` has a row for each line: unsigned integers of the size of the values.
void select_lines_of(const Any& array, const RankRows& ranks, Written keys, Counts nans,
                     int threads) {
    WithoutGil released;
    ThreadTeam team(threads);
    const auto size = [&](int axis) { return static_cast<int64_t>(array.shape(axis)); };
    const Values values = values_of(array);
    const Lines lines{values.data, size(0), size(1), size(2), values.kind, values.bytes};
    select_lines(lines, {ranks.data(), static_cast<int64_t>(ranks.shape(0)),
                         static_cast<int64_t>(ranks.shape(1))},
                 keys.data(), nans.data(), team);
}

void digit_counts_array(const Any& array, uint64_t prefix, int shift, int bits, Counts counts,
                        int threads) {
    WithoutGil released;
    ThreadTeam team(threads);
    digit_counts(values_of(array), prefix, shift, bits, counts.data(), team);
}

// Runs the splitting pass alone, for tests. Returns the numbers of keys below the bracket, at its
// lower bound, inside it, and at its upper bound, and the number of NaNs.
nb::tuple split_array(const nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>& values,
                      uint32_t low, uint32_t high, bool plain) {
    Bracket<uint32_t> bracket(low, high);
    const int64_t count = values.shape(0);
    bracket.make_room(count);
    const auto* bits = reinterpret_cast<const uint32_t*>(values.data());
    const int64_t nans = plain ? split_plain<uint32_t, Kind::kFloat>(bits, count, bracket)
                               : split<uint32_t, Kind::kFloat>(bits, count, bracket);
    bracket.inside.resize(bracket.found);
    return nb::make_tuple(bracket.below, bracket.at_low, bracket.inside, bracket.at_high, nans);
}

}  // namespace

void register_selection(nb::module_& module) {
    module.def("kth_value", kth_value, "values"_a, "rank"_a, "out"_a);
    module.def("select", select_array, "values"_a, "ranks"_a, "keys"_a, "threads"_a);
    module.def("select_lines", select_lines_of, "values"_a, "ranks"_a, "keys"_a, "nans"_a,
               "threads"_a);
    module.def("split", split_array, "values"_a, "low"_a, "high"_a, "plain"_a);
    module.def("digit_counts", digit_counts_array, "values"_a, "prefix"_a, "shift"_a, "bits"_a,
               "counts"_a, "threads"_a);
}

}  // namespace mmp
