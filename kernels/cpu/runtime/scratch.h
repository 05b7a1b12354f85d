// Bump allocator for many small objects that are freed together.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace mmp {

class Scratch {
public:
    struct Mark {
        size_t chunk, used;
    };

    // Returns uninitialised memory for `count` objects.
    template <class T>
    T* take(size_t count) {
        static_assert(std::is_trivially_destructible_v<T>);
        const size_t size = (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
        if (chunk_ == chunks_.size() || used_ + size > kChunk) next_chunk(size);
        void* memory = chunks_[chunk_].get() + used_;
        used_ += size;
        return static_cast<T*>(memory);
    }
    template <class T>
    T* make(const T& value) {
        return new (take<T>(1)) T(value);
    }

    Mark mark() const { return {chunk_, used_}; }
    // Frees everything allocated after the mark.
    void free_from(Mark mark) { chunk_ = mark.chunk, used_ = mark.used; }
    // Frees all objects but keeps the memory for later use.
    void clear() { chunk_ = used_ = 0; }

private:
    static constexpr size_t kAlignment = 64, kChunk = 1 << 20;
    struct Release {
        void operator()(uint8_t* chunk) const {
            ::operator delete(chunk, std::align_val_t{kAlignment});
        }
    };

    void next_chunk(size_t size) {
        if (size > kChunk) throw std::bad_alloc();
        if (chunk_ < chunks_.size()) ++chunk_;
        if (chunk_ == chunks_.size())
            chunks_.emplace_back(static_cast<uint8_t*>(
                ::operator new(kChunk, std::align_val_t{kAlignment})));
        used_ = 0;
    }

    std::vector<std::unique_ptr<uint8_t, Release>> chunks_;
    size_t chunk_ = 0, used_ = 0;  // chunk in use, bytes of it in use
};

}  // namespace mmp
