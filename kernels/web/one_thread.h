// Stands for <mutex> and <thread> in the build for WebAssembly, whose standard library has neither:
// the compiler includes it before each file. A decoder there has one thread, so nothing waits.
#pragma once

namespace std {

struct mutex {
    void lock() {}
    void unlock() {}
};

struct thread {
    void join() {}
};

}  // namespace std
