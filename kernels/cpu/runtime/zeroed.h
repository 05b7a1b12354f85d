// Zeroed arrays that take no memory until they are written, because a file may claim a far larger
// picture than it contains.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

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
                                      -reinterpret_cast<uintptr_t>(memory_.get()) % kLine)),
          count_(count) {}

    T* get() const { return first_; }
    T& operator[](size_t place) const { return first_[place]; }
    // Makes place for `count` entries; those that are new are zeros.
    void reserve(size_t count) {
        if (count <= count_) return;
        ZeroedLines larger(std::max(count, 2 * count_));
        memcpy(larger.first_, first_, count_ * sizeof(T));
        *this = std::move(larger);
    }

private:
    static constexpr size_t kLine = 64;
    Zeroed<char> memory_;
    T* first_;
    size_t count_;
};

}  // namespace mmp
