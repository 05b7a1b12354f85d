// Zeroed arrays that take no memory until they are written, because a file may claim a far larger
// picture than it contains.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

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

// Zeroed array that is aligned to a cache line. If it is read at random, it takes large pages where
// the system has them, as small ones would miss the cache of addresses.
template <class T>
class ZeroedLines {
public:
    explicit ZeroedLines(size_t count, bool at_random = false)
        : memory_(zeroed<char>(count * sizeof(T) + kLine - 1)),
          first_(reinterpret_cast<T*>(memory_.get() +
                                      -reinterpret_cast<uintptr_t>(memory_.get()) % kLine)),
          count_(count),
          at_random_(at_random) {
#ifdef MADV_HUGEPAGE
        if (at_random && count * sizeof(T) >= 2 * kLargePage) {
            const size_t before = -reinterpret_cast<uintptr_t>(first_) % kPage;
            madvise(reinterpret_cast<char*>(first_) + before, count * sizeof(T) - before,
                    MADV_HUGEPAGE);
        }
#endif
    }

    T* get() const { return first_; }
    T& operator[](size_t place) const { return first_[place]; }
    // Makes place for `count` entries; those that are new are zeros.
    void reserve(size_t count) {
        if (count <= count_) return;
        ZeroedLines larger(std::max(count, 2 * count_), at_random_);
        memcpy(larger.first_, first_, count_ * sizeof(T));
        *this = std::move(larger);
    }

private:
    static constexpr size_t kLine = 64, kPage = 4096, kLargePage = size_t{1} << 21;
    Zeroed<char> memory_;
    T* first_;
    size_t count_;
    bool at_random_;
};

}  // namespace mmp
