// A CUDA device on the processor, for tests. g++ includes this file before a kernel's source, which
// it then compiles as host code.
//
// The threads of a CUDA block are fibers of one thread of the operating system: each runs until it
// waits for others. In which order they run changes from round to round, so that results which
// depend on it differ from the expected ones. The blocks of a cooperative launch wait for each
// other, so each has an OS thread of its own; other blocks run one after the other. Shared memory
// is thread-local, and holds garbage when a block starts.
#pragma once

// Few headers, because they take most of the time of the compiler.
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <bit>
#include <source_location>
#include <type_traits>
#include <utility>

#define __CUDACC__
#define __CUDA_ARCH__ 900
#define MMP_EMULATED

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ thread_local
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))

struct uint2 { alignas(8) unsigned x; unsigned y; };
struct int2 { alignas(8) int x; int y; };
struct uint4 { alignas(16) unsigned x; unsigned y, z, w; };
struct int4 { alignas(16) int x; int y, z, w; };
struct uchar4 { alignas(4) unsigned char x; unsigned char y, z, w; };
inline uchar4 make_uchar4(int x, int y, int z, int w) {
    return {uint8_t(x), uint8_t(y), uint8_t(z), uint8_t(w)};
}
struct dim3 { unsigned x, y, z; };

// Dynamic shared memory: the kernels declare it by these names.
#define EMULATED_SHARED_BYTES 232448
asm(R"(
    .pushsection .tbss.shared, "awT", %nobits
    .balign 256
    .hidden shared, memory, _ZN3mmp6sharedE, emulated_shared
    .globl shared, memory, _ZN3mmp6sharedE, emulated_shared
    .type shared, %object
    .type memory, %object
    .type _ZN3mmp6sharedE, %object
    .type emulated_shared, %object
    shared: memory: _ZN3mmp6sharedE: emulated_shared:
    .zero 232448 + 256
    .popsection
)");
extern "C" __attribute__((visibility("hidden"))) __thread uint8_t emulated_shared[];

// Saves the registers that a call keeps on the stack, and the stack at *from; goes on at `to`.
extern "C" __attribute__((visibility("hidden"))) void emulated_switch(void** from, void* to);
#if defined(__x86_64__)
asm(R"(
    .pushsection .text
    .hidden emulated_switch
    .globl emulated_switch
    .type emulated_switch, %function
emulated_switch:
    pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
    ret
    .popsection
)");
#elif defined(__aarch64__)
asm(R"(
    .pushsection .text
    .hidden emulated_switch
    .globl emulated_switch
    .type emulated_switch, %function
emulated_switch:
    sub sp, sp, #160
    stp x29, x30, [sp]
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x29, x30, [sp]
    ldp x19, x20, [sp, #16]
    ldp x21, x22, [sp, #32]
    ldp x23, x24, [sp, #48]
    ldp x25, x26, [sp, #64]
    ldp x27, x28, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .popsection
)");
#else
#error "the emulated device runs on x86-64 and on 64-bit ARM"
#endif

namespace emulated {

using Location = std::source_location;
constexpr size_t kStackBytes = 256 << 10, kPage = 4096, kStride = kStackBytes + 5 * kPage;
constexpr uint8_t kGarbage = 0xA7;
constexpr uint64_t kMostBlocks = 64;  // of a cooperative launch

// A launch, as Python fills it in.
struct Launch {
    const char* name;
    void** arguments;
    const int64_t* argument_bytes;
    int64_t argument_count, cooperative, shared_bytes;
    uint64_t seed;  // of the order of the threads
    dim3 grid, block;
};

enum class State { kReady, kAtBarrier, kInWarp, kEnded };

struct Fiber {
    dim3 thread;
    uint32_t lane;
    State state;
    void* stack;
    // What it waits for:
    const char* what;
    Location where;
    uint32_t mask;
    uint64_t given;  // its value
    // What it gets: the lanes of the mask that have not ended, and their values.
    uint32_t present;
    uint64_t taken[32];
};

struct Block {
    const Launch* launch;
    dim3 index;
    uint32_t threads, live, at_barrier;
    int64_t sum;  // of the values at the barrier
    int64_t last_sum;
    void* scheduler;
    Fiber* fibers;  // whole warps
    char* stacks;
    void (*kernel)();
    void (*call)(void (*)(), void**);

    [[noreturn]] void fail(const char* reason) {
        fprintf(stderr, "emulated device: kernel %s, block (%u, %u, %u): %s\n", launch->name,
                index.x, index.y, index.z, reason);
        for (uint32_t n = 0; n < threads; ++n) {
            const Fiber& fiber = fibers[n];
            if (fiber.state == State::kEnded) continue;
            uint32_t last = n;
            const auto is_alike = [&](const Fiber& other) {
                return other.state == fiber.state && other.where.line() == fiber.where.line();
            };
            while (last + 1 < threads && is_alike(fibers[last + 1])) ++last;
            if (fiber.state == State::kReady)
                fprintf(stderr, "  threads %u to %u can run\n", n, last);
            else
                fprintf(stderr, "  threads %u to %u wait at %s, mask %08x, %s:%u\n", n, last,
                        fiber.what, fiber.mask, fiber.where.file_name(), fiber.where.line());
            n = last;
        }
        abort();
    }

    // Lets the threads go on that wait at the barrier, if all that have not ended do.
    void try_barrier() {
        if (at_barrier == 0 || at_barrier < live) return;
        const Fiber* first = nullptr;
        for (uint32_t n = 0; n < threads; ++n) {
            if (fibers[n].state != State::kAtBarrier) continue;
            if (!first) first = &fibers[n];
            if (first->where.line() != fibers[n].where.line())
                fail("threads wait at different barriers");
        }
        for (uint32_t n = 0; n < threads; ++n)
            if (fibers[n].state == State::kAtBarrier) fibers[n].state = State::kReady;
        last_sum = sum, sum = 0, at_barrier = 0;
    }

    // Lets the lanes of a mask go on, if all that have not ended wait.
    void try_warp(Fiber& fiber) {
        Fiber* const lanes = &fiber - fiber.lane;
        const uint32_t mask = fiber.mask;
        uint32_t present = 0;
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const Fiber& other = lanes[__builtin_ctz(rest)];
            if (other.state == State::kEnded) continue;
            if (other.state != State::kInWarp || other.mask != mask) return;
            if (strcmp(other.what, fiber.what)) fail("lanes of a mask call different operations");
            present |= 1u << other.lane;
        }
        for (uint32_t rest = present; rest; rest &= rest - 1) {
            Fiber& to = lanes[__builtin_ctz(rest)];
            to.present = present;
            for (uint32_t from = present; from; from &= from - 1)
                to.taken[__builtin_ctz(from)] = lanes[__builtin_ctz(from)].given;
            to.state = State::kReady;
        }
    }

    void end(Fiber& fiber) {
        fiber.state = State::kEnded;
        --live;
        try_barrier();
        Fiber* const lanes = &fiber - fiber.lane;
        for (uint32_t n = 0; n < 32; ++n)
            if (lanes[n].state == State::kInWarp) try_warp(lanes[n]);
    }

    inline void run();
};

inline thread_local Block* block;
inline thread_local Fiber* fiber;

inline void yield() { emulated_switch(&fiber->stack, block->scheduler); }

// Lets other threads run, of this block and of others.
inline void pause() { sched_yield(), yield(); }

inline void enter() {
    block->call(block->kernel, block->launch->arguments);
    block->end(*fiber);
    yield();
}

inline void Block::run() {
    static const auto start = &enter;
    for (uint32_t n = 0; n < threads; ++n) {
        Fiber& it = fibers[n];
        const dim3& size = launch->block;
        it.thread = {n % size.x, n / size.x % size.y, n / size.x / size.y};
        it.lane = n % 32;
        it.state = State::kReady;
        // Not all stacks begin at the same place of a page, because a cache keeps few such places.
        char* top = stacks + (n + 1) * kStride - n % 60 * 64;
#if defined(__x86_64__)
        void** place = reinterpret_cast<void**>(top) - 2;
        memcpy(place, &start, sizeof(start));
        it.stack = place - 6;
#else
        it.stack = top - 160;
        memcpy(top - 160 + 8, &start, sizeof(start));
#endif
    }
    live = threads, at_barrier = 0, sum = 0;
    uint64_t random = launch->seed * 2 + 1;
    while (live) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint32_t places = std::bit_ceil(threads);
        const uint32_t flip = uint32_t(random >> 33) & (places - 1);
        bool ran = false;
        for (uint32_t i = 0; i < places; ++i) {
            const uint32_t n = i ^ flip;
            if (n >= threads || fibers[n].state != State::kReady) continue;
            ran = true;
            fiber = &fibers[n];
            emulated_switch(&scheduler, fiber->stack);
        }
        if (!ran) fail("no thread can go on");
    }
}

inline void barrier(const char* what, int64_t value, const Location& where) {
    fiber->state = State::kAtBarrier;
    fiber->what = what, fiber->where = where, fiber->mask = 0;
    ++block->at_barrier;
    block->sum += value;
    block->try_barrier();
    yield();
}

// Waits for the lanes of a mask; afterwards fiber->taken has their values.
inline const uint64_t* meet(const char* what, uint32_t mask, uint64_t given, const Location& where) {
    Fiber& own = *fiber;
    own.state = State::kInWarp;
    own.what = what, own.where = where, own.mask = mask, own.given = given;
    if (!(mask >> own.lane & 1)) block->fail("a lane is not in the mask that it passes");
    block->try_warp(own);
    if (own.state != State::kReady) yield();
    return own.taken;
}

template <class T>
uint64_t packed(T value) {
    static_assert(sizeof(T) <= 8);
    uint64_t word = 0;
    memcpy(&word, &value, sizeof(T));
    return word;
}

template <class T>
T unpacked(uint64_t word) {
    T value;
    memcpy(&value, &word, sizeof(T));
    return value;
}

// A shuffle: own value if `from` lies outside the own part of `width` lanes.
template <class T>
T shuffle(const char* what, uint32_t mask, T value, int from, bool inside, const Location& where) {
    const uint64_t* values = meet(what, mask, packed(value), where);
    if (!inside) return value;
    if (!(fiber->present >> from & 1))
        block->fail("a shuffle reads a lane that is not in the mask or has ended");
    return unpacked<T>(values[from]);
}

template <class T, class Join>
T reduce(const char* what, uint32_t mask, T value, Join join, const Location& where) {
    const uint64_t* values = meet(what, mask, packed(value), where);
    uint32_t rest = fiber->present;
    T all = unpacked<T>(values[__builtin_ctz(rest)]);
    while (rest &= rest - 1)
        all = join(all, unpacked<T>(values[__builtin_ctz(rest)]));
    return all;
}

// Fills the thread-local memory of this library with garbage, that is all of shared memory.
inline void spoil_shared(size_t dynamic) {
    struct Place { const void* address; char* start; size_t size; } place{&block, nullptr, 0};
    dl_iterate_phdr([](dl_phdr_info* info, size_t, void* data) {
        Place& place = *static_cast<Place*>(data);
        for (int n = 0; n < info->dlpi_phnum; ++n) {
            const auto& part = info->dlpi_phdr[n];
            const char* start = static_cast<const char*>(info->dlpi_tls_data);
            if (part.p_type != PT_TLS || !start || place.address < start ||
                place.address >= start + part.p_memsz)
                continue;
            place.start = const_cast<char*>(start), place.size = part.p_memsz;
            return 1;
        }
        return 0;
    }, &place);
    Block* const kept = block;
    char* const from = reinterpret_cast<char*>(emulated_shared);
    char* const to = from + EMULATED_SHARED_BYTES + 256;
    memset(place.start, kGarbage, from - place.start);
    memset(to, kGarbage, place.start + place.size - to);
    memset(from, kGarbage, dynamic + 256);
    block = kept;
}

// Some blocks of a launch.
struct Blocks {
    const Launch* launch;
    void (*kernel)();
    void (*call)(void (*)(), void**);
    uint64_t first, last;
};

inline void* reserve(size_t bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) perror("emulated device"), abort();
    return memory;
}

inline void* run_blocks(void* given) {
    const auto& [whole, kernel, call, first, last] = *static_cast<const Blocks*>(given);
    const Launch& launch = *whole;
    Block own{};
    own.launch = &launch, own.kernel = kernel, own.call = call;
    own.threads = launch.block.x * launch.block.y * launch.block.z;
    const uint32_t lanes = (own.threads + 31) / 32 * 32;
    own.fibers = static_cast<Fiber*>(reserve(lanes * sizeof(Fiber)));
    for (uint32_t n = own.threads; n < lanes; ++n) own.fibers[n].state = State::kEnded;
    const size_t bytes = own.threads * kStride;
    own.stacks = static_cast<char*>(reserve(bytes));
    // A page that no thread may touch ends each stack.
    for (uint32_t n = 0; n < own.threads; ++n) mprotect(own.stacks + n * kStride, kPage, PROT_NONE);
    block = &own;
    for (uint64_t n = first; n < last; ++n) {
        const dim3& grid = launch.grid;
        own.index = {unsigned(n % grid.x), unsigned(n / grid.x % grid.y),
                     unsigned(n / grid.x / grid.y)};
        spoil_shared(launch.shared_bytes);
        own.run();
        for (int i = 0; i < 256; ++i)
            if (emulated_shared[launch.shared_bytes + i] != kGarbage)
                own.fail("it writes beyond its dynamic shared memory");
    }
    munmap(own.stacks, bytes);
    munmap(own.fibers, lanes * sizeof(Fiber));
    return nullptr;
}

template <class... A, size_t... I>
void call_with(void (*kernel)(A...), void** arguments, std::index_sequence<I...>) {
    kernel(*static_cast<std::remove_cv_t<A>*>(arguments[I])...);
}

template <class... A>
void launch(void (*kernel)(A...), const Launch& launch) {
    constexpr size_t kCount = sizeof...(A);
    const int64_t bytes[kCount + 1] = {sizeof(A)..., 0};
    if (launch.argument_count != kCount ||
        memcmp(bytes, launch.argument_bytes, kCount * sizeof(int64_t))) {
        fprintf(stderr, "emulated device: kernel %s has arguments of other sizes:", launch.name);
        for (size_t i = 0; i < kCount; ++i) fprintf(stderr, " %d", int(bytes[i]));
        fprintf(stderr, "; given are");
        for (int64_t i = 0; i < launch.argument_count; ++i)
            fprintf(stderr, " %d", int(launch.argument_bytes[i]));
        fprintf(stderr, " bytes\n");
        abort();
    }
    const auto call = [](void (*given)(), void** arguments) {
        call_with(reinterpret_cast<void (*)(A...)>(given), arguments,
                  std::index_sequence_for<A...>());
    };
    const auto plain = reinterpret_cast<void (*)()>(kernel);
    const uint64_t blocks = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    if (!launch.cooperative) {
        Blocks all{&launch, plain, call, 0, blocks};
        run_blocks(&all);
        return;
    }
    if (blocks > kMostBlocks) fprintf(stderr, "emulated device: too many blocks\n"), abort();
    pthread_t threads[kMostBlocks];
    Blocks one[kMostBlocks];
    for (uint64_t n = 0; n < blocks; ++n) {
        one[n] = {&launch, plain, call, n, n + 1};
        if (pthread_create(&threads[n], nullptr, run_blocks, &one[n]))
            perror("emulated device"), abort();
    }
    for (uint64_t n = 0; n < blocks; ++n) pthread_join(threads[n], nullptr);
}

}  // namespace emulated

// Follows the source: makes a kernel visible to Python.
#define EMULATED_KERNEL(NAME)                                            \
    extern "C" void emulated_launch_##NAME(const emulated::Launch* it) { \
        emulated::launch(NAME, *it);                                     \
    }

#include "operations.h"
