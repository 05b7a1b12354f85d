// Memory for many arrays that live equally long, in a few large blocks: the system maps them by
// large pages where it can, and pages that no array writes to take no memory.
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

    // Returns an array of zeros, aligned to a cache line. Several threads may call it.
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
    char* next_ = nullptr;  // free memory of the last block
    size_t left_ = 0;
};

}  // namespace mmp
