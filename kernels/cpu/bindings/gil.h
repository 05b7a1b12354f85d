// The GIL around native work, in threads that may outlive the interpreter.
#pragma once

#include <Python.h>

#include <chrono>
#include <thread>

namespace mmp {

// Calls a function of Python that may wait for the GIL. A daemon thread that waits for it when the
// interpreter ends sleeps until the process ends, as Python 3.14 lets such a thread do.
//
// Earlier Pythons end the thread by pthread_exit. glibc unwinds the stack for that as an exception
// would, and the first function that is noexcept, such as a destructor, would abort the process. To
// ask Py_IsFinalizing before would miss an end that begins while the thread waits. `call` must
// throw no exception of its own, and must own nothing that has a destructor.
template <class Call>
auto or_sleep(const Call& call) {
    try {
        return call();
    } catch (...) {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
}

// Gives the GIL away while it lives.
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

// Holds the GIL while it lives. The calling thread must have come from Python.
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
