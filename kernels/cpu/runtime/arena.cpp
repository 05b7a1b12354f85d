#include "cpu/runtime/arena.h"

#include <stdint.h>

#include <algorithm>
#include <new>

#ifdef _WIN32
#define NOMINMAX
#include <windows.h>
#else
#include <sys/mman.h>
#endif

namespace mmp {

namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kLargePage = size_t{1} << 21;
constexpr size_t kFirstBlock = size_t{1} << 18, kLargestBlock = size_t{1} << 25;

size_t rounded(size_t size, size_t unit) { return (size + unit - 1) / unit * unit; }

// Maps zeroed memory, or returns null; pages that are never touched take no memory.
void* mapped(size_t size) {
#ifdef _WIN32
    return VirtualAlloc(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
#else
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
#endif
}

void unmap(void* memory, size_t size) {
#ifdef _WIN32
    (void)size;
    VirtualFree(memory, 0, MEM_RELEASE);
#else
    munmap(memory, size);
#endif
}

}  // namespace

Arena::~Arena() {
    for (const Block& block : blocks_) unmap(block.memory, block.size);
}

void* Arena::take(size_t bytes) {
    const size_t size = rounded(std::max<size_t>(bytes, 1), kCacheLine);
    const std::lock_guard lock(mutex_);
    if (size > left_) add_block(size);
    char* const memory = next_;
    next_ += size;
    left_ -= size;
    return memory;
}

// Doubles the total: a small picture needs little memory, a large one few blocks.
void Arena::add_block(size_t least) {
    size_t size = 0;
    for (const Block& block : blocks_) size += block.size;
    size = std::max(least, std::clamp(size, kFirstBlock, kLargestBlock));
    const bool large = size >= kLargePage;
    if (large) size = rounded(size, kLargePage) + kLargePage;
    void* const memory = mapped(size);
    if (memory == nullptr) throw std::bad_alloc();
    blocks_.push_back({memory, size});
    next_ = static_cast<char*>(memory);
    left_ = size;
    if (!large) return;
    const size_t offset = -reinterpret_cast<uintptr_t>(memory) % kLargePage;
    next_ += offset;
    left_ = size - kLargePage;
#ifdef MADV_HUGEPAGE
    madvise(next_, left_, MADV_HUGEPAGE);  // best effort: without huge pages it is only slower
#endif
}

}  // namespace mmp
