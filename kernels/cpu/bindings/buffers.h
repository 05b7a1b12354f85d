// Buffers of Python that native code reads.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "cpu/tiles/tile.h"

namespace mmp {

// A buffer of Python that stays where it is.
class Held {
public:
    explicit Held(nanobind::handle source) {
        if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_SIMPLE)) throw nanobind::python_error();
    }
    ~Held() { PyBuffer_Release(&view_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Payload payload() const {
        return {static_cast<const uint8_t*>(view_.buf), static_cast<size_t>(view_.len)};
    }

private:
    Py_buffer view_;
};

using Buffers = std::vector<std::unique_ptr<Held>>;

inline Payload held(nanobind::handle source, Buffers& buffers) {
    return buffers.emplace_back(std::make_unique<Held>(source))->payload();
}

}  // namespace mmp
