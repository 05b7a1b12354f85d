// The range coder and the rates in the Python module mmpcodec._cpu.
#include <nanobind/nanobind.h>

#include <string>

#include "cpu/bindings/bindings.h"
#include "cpu/entropy/rangecoder.h"
#include "cpu/entropy/rates.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace mmp;

class RangeEncoderObject {
public:
    void encode(uint32_t cumulative, uint32_t frequency, uint32_t total) {
        coder_.encode(cumulative, frequency, total);
    }
    nb::bytes finish() {
        const auto& payload = coder_.finish();
        return nb::bytes(payload.data(), payload.size());
    }

private:
    RangeEncoder coder_;
};

class RangeDecoderObject {
public:
    explicit RangeDecoderObject(const nb::bytes& payload)
        : payload_(payload.c_str(), payload.size()),
          coder_(reinterpret_cast<const uint8_t*>(payload_.data()), payload_.size()) {}

    uint32_t target(uint32_t total) { return coder_.target(total); }
    void consume(uint32_t cumulative, uint32_t frequency) {
        coder_.consume(cumulative, frequency);
    }
    void finish() const { coder_.finish(); }

private:
    const std::string payload_;
    RangeDecoder coder_;
};

}  // namespace

void mmp::register_entropy(nb::module_& module) {
    module.def("log2_rate", &log2_rate, "value"_a);
    nb::class_<RangeEncoderObject>(module, "RangeEncoder")
        .def(nb::init<>())
        .def("encode", &RangeEncoderObject::encode, "cumulative"_a, "frequency"_a, "total"_a)
        .def("finish", &RangeEncoderObject::finish);
    nb::class_<RangeDecoderObject>(module, "RangeDecoder")
        .def(nb::init<const nb::bytes&>(), "payload"_a)
        .def("target", &RangeDecoderObject::target, "total"_a)
        .def("consume", &RangeDecoderObject::consume, "cumulative"_a, "frequency"_a)
        .def("finish", &RangeDecoderObject::finish);
}
