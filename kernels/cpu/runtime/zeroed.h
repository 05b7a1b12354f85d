// Zeroed arrays that take no memory until they are written, because a file may claim a far larger
// picture than it contains.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <memory>
#include <new>

namespace mmp {

struct Free {
    void operator()(void* memory) const { free(memory); }
};

template <class T>
using Zeroed = std::unique_ptr<T[], Free>;

template <class T>
Zeroed<T> zeroed(size_t count) {
    void* memory = calloc(count ? count : 1, sizeof(T));
    if (!memory) throw std::bad_alloc();
    return Zeroed<T>(static_cast<T*>(memory));
}

// Zeroed array that is aligned to a cache line.
template <class T>
class ZeroedLines {
public:
    explicit ZeroedLines(size_t count)
        : memory_(zeroed<char>(count * sizeof(T) + kLine - 1)),
          first_(reinterpret_cast<T*>(memory_.get() +
                                      -reinterpret_cast<uintptr_t>(memory_.get()) % kLine)) {}

    T* get() const { return first_; }
    T& operator[](size_t place) const { return first_[place]; }

private:
    static constexpr size_t kLine = 64;
    Zeroed<char> memory_;
    T* first_;
};

}  // namespace mmp
