// Releasing and acquiring the GIL around native work, in threads that may outlive the interpreter.
#pragma once

#include <Python.h>

#include <chrono>
#include <thread>

namespace mmp {

// Calls a Python API function that may wait for the GIL. If the interpreter ends while a daemon
// thread waits, the thread then sleeps until the process exits, as in Python 3.14.
//
// Earlier versions end the thread by pthread_exit. glibc implements this by unwinding the stack
// like an exception, and the first noexcept function on it, such as a destructor, would abort the
// process. Asking Py_IsFinalizing beforehand would be a race. `call` must neither throw nor own an
// object with a destructor.
template <class Call>
auto or_sleep(const Call& call) {
    try {
        return call();
    } catch (...) {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
}

// RAII: releases the GIL for its lifetime.
class WithoutGil {
public:
    WithoutGil() : state_(PyEval_SaveThread()) {}
    ~WithoutGil() {
        or_sleep([this] { PyEval_RestoreThread(state_); });
    }
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

private:
    PyThreadState* const state_;
};

// RAII: holds the GIL for its lifetime. Only for threads that Python created.
class WithGil {
public:
    WithGil() : state_(or_sleep([] { return PyGILState_Ensure(); })) {}
    ~WithGil() { PyGILState_Release(state_); }
    WithGil(const WithGil&) = delete;
    WithGil& operator=(const WithGil&) = delete;

private:
    const PyGILState_STATE state_;
};

}  // namespace mmp
