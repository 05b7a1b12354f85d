// Memory for many arrays of equal lifetime, in a few large blocks. The system maps them with huge
// pages if it can; pages that are never written take no memory.
#pragma once

#include <stddef.h>

#include <mutex>
#include <vector>

namespace mmp {

class Arena {
public:
    Arena() = default;
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    // Returns a zeroed array, aligned to a cache line. Thread-safe.
    template <class T>
    T* zeros(size_t count) {
        return static_cast<T*>(take(count * sizeof(T)));
    }

private:
    struct Block {
        void* memory;
        size_t size;
    };

    void* take(size_t bytes);
    void add_block(size_t least);

    std::mutex mutex_;
    std::vector<Block> blocks_;
    char* next_ = nullptr;  // free memory of the newest block
    size_t left_ = 0;
};

}  // namespace mmp
