// The Python module mmpcodec._cpu: errors, signals and progress. The other files bind the rest.
#include <nanobind/nanobind.h>

#include <string>

#include "cpu/bindings/bindings.h"
#include "cpu/bindings/gil.h"
#include "cpu/runtime/errors.h"
#include "cpu/runtime/interrupts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace mmp;

// Takes ownership of the result of a Python API call; null means that a Python exception is set,
// which it throws.
nb::object given(PyObject* returned) {
    if (!returned) throw nb::python_error();
    return nb::steal(returned);
}

template <class Error>
void translate(const char* name) {
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void* payload) {
            try {
                std::rethrow_exception(thrown);
            } catch (const Error& error) {
                const nb::object errors = given(
                    or_sleep([] { return PyImport_ImportModule("mmpcodec.errors"); }));
                const nb::object type = errors.attr(static_cast<char*>(payload));
                const nb::object value = given(or_sleep([&] {
                    if constexpr (requires { error.section; })
                        return PyObject_CallFunction(type.ptr(), "ss", error.section, error.what());
                    else
                        return PyObject_CallFunction(type.ptr(), "s", error.what());
                }));
                PyErr_SetObject(type.ptr(), value.ptr());
            }
        },
        const_cast<char*>(name));
}

}  // namespace

mmp::Progress mmp::progress_from(const nb::object& callback) {
    return [&callback](int64_t done, int64_t total) {
        const WithGil gil;
        if (or_sleep(PyErr_CheckSignals)) throw nb::python_error();
        if (callback.is_none()) return;
        const nb::object answer = given(or_sleep([&] {
            return PyObject_CallFunction(callback.ptr(), "LL", static_cast<long long>(done),
                                         static_cast<long long>(total));
        }));
        if (answer.is(nb::handle(Py_False)))
            throw Cancelled("stopped by the caller after " + std::to_string(done) + " of " +
                            std::to_string(total) + " fragments");
    };
}

NB_MODULE(_cpu, module) {
    // Threads that still decode when the interpreter ends may hold objects of this module.
    nanobind::set_leak_warnings(false);
    ask_for_interrupts([] {
        // Signals interrupt only threads that Python created. Threads of a ThreadTeam could wait
        // forever for the GIL of an interpreter that has ended.
        if (!PyGILState_GetThisThreadState()) return false;
        const WithGil gil;
        return or_sleep(PyErr_CheckSignals) != 0;
    });
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Interrupted&) {
            // The signal handler may have set its own exception.
            if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
        }
    });
    translate<TruncatedPayload>("TruncatedStream");
    translate<CorruptPayload>("CorruptStream");
    translate<Cancelled>("Cancelled");

    register_blocks(module);
    register_entropy(module);
    register_lossless(module);
    register_jpeg(module);
    register_knapsack(module);
    register_max_sum(module);
    register_filters(module);
    register_selection(module);
    register_rank_filter(module);
    register_subset_sum(module);
    register_tiles(module);
    register_trees(module);
}
