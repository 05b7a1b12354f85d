// Kept JPEG files in the Python module mmpcodec._cpu.
#include <nanobind/nanobind.h>

#include <string>

#include "cpu/bindings/bindings.h"
#include "cpu/bindings/gil.h"
#include "cpu/jpeg/codec.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace mmp;

nb::bytes bytes_of(const std::vector<uint8_t>& bytes) {
    return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Returns the payload, its form, the bytes of the file that are kept as levels, and those that are
// stored.
nb::tuple encode(const nb::bytes& file, int form, int threads, uint64_t most_level_bytes) {
    const auto* data = static_cast<const uint8_t*>(file.data());
    const size_t size = file.size();
    const jpeg::KeptFile kept = [&] {
        WithoutGil released;
        return jpeg::encode_file(data, size, form, threads, most_level_bytes);
    }();
    return nb::make_tuple(bytes_of(kept.payload), kept.form, kept.scan_bytes, kept.stored_bytes);
}

bool is_whole(const nb::bytes& file, uint64_t most_level_bytes) {
    const auto* data = static_cast<const uint8_t*>(file.data());
    const size_t size = file.size();
    WithoutGil released;
    return jpeg::is_whole(data, size, most_level_bytes);
}

nb::bytes decode(const nb::bytes& payload, size_t file_size, int form, int threads,
                 uint64_t most_level_bytes) {
    const auto* data = static_cast<const uint8_t*>(payload.data());
    const size_t size = payload.size();
    const std::vector<uint8_t> file = [&] {
        WithoutGil released;
        return jpeg::decode_file(data, size, file_size, form, threads, most_level_bytes);
    }();
    return bytes_of(file);
}

nb::bytes decode_front(const nb::bytes& payload, size_t file_size, int form,
                       uint64_t most_level_bytes) {
    const auto* data = static_cast<const uint8_t*>(payload.data());
    const size_t size = payload.size();
    const std::vector<uint8_t> front = [&] {
        WithoutGil released;
        return jpeg::decode_front(data, size, file_size, form, most_level_bytes);
    }();
    return bytes_of(front);
}

}  // namespace

void mmp::register_jpeg(nb::module_& module) {
    module.def("encode_jpeg", &encode, "file"_a, "form"_a, "threads"_a, "most_level_bytes"_a);
    module.def("is_whole_jpeg", &is_whole, "file"_a, "most_level_bytes"_a);
    module.def("decode_jpeg", &decode, "payload"_a, "file_size"_a, "form"_a, "threads"_a,
               "most_level_bytes"_a);
    module.def("decode_jpeg_front", &decode_front, "payload"_a, "file_size"_a, "form"_a,
               "most_level_bytes"_a);
}
