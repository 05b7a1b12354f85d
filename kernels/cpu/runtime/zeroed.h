// Arrays of zeros that take no memory until they are written, because a file may claim a far larger
// picture than it holds.
#pragma once

#include <stddef.h>
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

}  // namespace mmp
