// The parts of cpu/runtime that WebAssembly has otherwise: a team of one thread, memory from the
// heap, and no interrupts, because a page ends a whole worker.
#include <stdlib.h>

#include <algorithm>

#include "cpu/runtime/arena.h"
#include "cpu/runtime/interrupts.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

ThreadTeam::ThreadTeam(int, Deadline deadline) : deadline_(deadline) {}
ThreadTeam::~ThreadTeam() = default;
void ThreadTeam::run_job(Job, uint32_t) { abort(); }  // only a team with workers gets here

void stop_if_interrupted() {}

namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kFirstBlock = size_t{1} << 18, kLargestBlock = size_t{1} << 25;

}  // namespace

Arena::~Arena() {
    for (const Block& block : blocks_) free(block.memory);
}

void* Arena::take(size_t bytes) {
    const size_t size = (std::max<size_t>(bytes, 1) + kCacheLine - 1) / kCacheLine * kCacheLine;
    if (size > left_) add_block(size);
    char* const memory = next_;
    next_ += size;
    left_ -= size;
    return memory;
}

void Arena::add_block(size_t least) {
    size_t size = 0;
    for (const Block& block : blocks_) size += block.size;
    size = std::max(least, std::clamp(size, kFirstBlock, kLargestBlock));
    void* const memory = calloc(size + kCacheLine, 1);
    if (memory == nullptr) throw std::bad_alloc();
    blocks_.push_back({memory, size});
    next_ = static_cast<char*>(memory) + -reinterpret_cast<uintptr_t>(memory) % kCacheLine;
    left_ = size;
}

}  // namespace mmp
